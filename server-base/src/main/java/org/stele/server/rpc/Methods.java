package org.stele.server.rpc;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.thrift.TBase;

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
    Method<A> method = new Method<>(name, execution, system, arguments, handler);
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

  record Method<A extends TBase<?, ?>>(
      String name,
      Execution execution,
      boolean system,
      Supplier<A> arguments,
      Handler<A> handler) {}
}
