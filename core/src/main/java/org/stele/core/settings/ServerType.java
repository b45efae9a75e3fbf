package org.stele.core.settings;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How an endpoint serves its connections: {@code rpc.server.type}. Behind each type are the same
 * methods, the same workers and the same limits; they differ in who waits for the sockets.
 */
public enum ServerType {
  /**
   * A few threads ({@code rpc.selectors}), each of which serves a share of the connections. The
   * default: the least work per call from one caller to thousands.
   */
  THREADED_SELECTOR,

  /** As {@link #THREADED_SELECTOR} with one thread for all connections. */
  CUSTOM_HS_HA,

  /**
   * A thread per connection, which waits for nothing else. A connection's short calls and TLS
   * handshake hold up no other connection; each costs a thread and three descriptors.
   */
  THREADPOOL,

  /** As {@link #THREADED_SELECTOR} with TLS, whatever {@code rpc.tls} says. */
  SSL,

  /** Authentication by SASL, which is not there yet: a server with this type does not start. */
  SASL;

  /** As it stands in settings. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What a setting says; blank means the default. */
  static SettingType<ServerType> settingType() {
    String names = Arrays.stream(values()).map(ServerType::text).collect(Collectors.joining(", "));
    SettingType<ServerType> named = SettingType.oneOf(ServerType.class);
    return new SettingType<>(
        "one of " + names + ", or blank",
        text -> text.isEmpty() ? THREADED_SELECTOR : named.parser().apply(text));
  }
}
