package org.stele.server.rpc;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.thrift.TBase;
import org.jspecify.annotations.Nullable;

/**
 * The methods an endpoint serves, by name; with and without the service's name in front of it, as
 * TMultiplexedProtocol writes it. Filled before the endpoint starts, read-only afterwards.
 */
public final class Methods {
  private final Map<String, Method<?>> byName = new HashMap<>();

  /**
   * Adds a method.
   *
   * @param service the IDL's name of the service, such as {@code TabletService}
   * @param system whether it belongs to the reserved class that users' load never refuses
   */
  public <A extends TBase<?, ?>> Methods add(
      String service,
      String name,
      Execution execution,
      boolean system,
      Supplier<A> arguments,
      Handler<A> handler) {
    return put(service, new Method<>(name, execution, system, null, arguments, handler));
  }

  /**
   * Adds a method of which some calls belong to the system class, told by their arguments: such as
   * reads of the metadata tablet.
   *
   * @param systemIf is quick, looks at the arguments only, and copes with absent fields
   */
  public <A extends TBase<?, ?>> Methods add(
      String service,
      String name,
      Execution execution,
      Predicate<A> systemIf,
      Supplier<A> arguments,
      Handler<A> handler) {
    return put(service, new Method<>(name, execution, false, systemIf, arguments, handler));
  }

  private Methods put(String service, Method<?> method) {
    String name = method.name();
    if (byName.put(name, method) != null || byName.put(service + ":" + name, method) != null) {
      throw new IllegalArgumentException("method " + name + " is there already");
    }
    return this;
  }

  /** Each method under both of its names. */
  Map<String, Method<?>> byName() {
    return Map.copyOf(byName);
  }

  /** All names, for the test that compares them with the IDL. */
  public Set<String> names() {
    return Set.copyOf(byName.keySet());
  }

  /**
   * @param systemIf if not null, tells for each call whether it is of the system class
   */
  record Method<A extends TBase<?, ?>>(
      String name,
      Execution execution,
      boolean system,
      @Nullable Predicate<A> systemIf,
      Supplier<A> arguments,
      Handler<A> handler) {}
}
