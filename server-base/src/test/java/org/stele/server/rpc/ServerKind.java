package org.stele.server.rpc;

import java.util.HashMap;
import java.util.Map;
import org.stele.core.net.TestTls;

/**
 * The ways of serving that must behave alike. {@code custom_hs_ha} is the threaded selector with
 * one selector; tests of whole servers have it, too.
 */
enum ServerKind {
  THREADED_SELECTOR,
  THREADPOOL,
  SSL,
  THREADPOOL_WITH_TLS;

  boolean isEncrypted() {
    return this == SSL || this == THREADPOOL_WITH_TLS;
  }

  /** Of so many connections: with TLS each costs much more processor time, so fewer will do. */
  int fewer(int connections) {
    return isEncrypted() ? connections / 10 : connections;
  }

  Map<String, String> settings() {
    return switch (this) {
      case THREADED_SELECTOR ->
          Map.of("rpc.server.type", "threaded_selector", "rpc.selectors", "2");
      case THREADPOOL -> Map.of("rpc.server.type", "threadpool");
      case SSL -> encrypted("ssl");
      case THREADPOOL_WITH_TLS -> encrypted("threadpool");
    };
  }

  private static Map<String, String> encrypted(String serverType) {
    Map<String, String> settings = new HashMap<>(TestTls.shared().serverSettings());
    settings.put("rpc.server.type", serverType);
    settings.put("rpc.selectors", "2");
    return settings;
  }
}
