package org.stele.server.rpc;

import java.util.Map;

/** The ways of serving that must behave alike. */
enum ServerKind {
  THREADED_SELECTOR,
  CUSTOM_HS_HA,
  THREADPOOL,
  SSL,
  THREADPOOL_WITH_TLS;

  boolean isEncrypted() {
    return this == SSL || this == THREADPOOL_WITH_TLS;
  }

  Map<String, String> settings() {
    return switch (this) {
      case THREADED_SELECTOR ->
          Map.of("rpc.server.type", "threaded_selector", "rpc.selectors", "2");
      case CUSTOM_HS_HA -> Map.of("rpc.server.type", "custom_hs_ha");
      case THREADPOOL -> Map.of("rpc.server.type", "threadpool");
      case SSL -> TestTls.settings("ssl");
      case THREADPOOL_WITH_TLS -> TestTls.settings("threadpool");
    };
  }
}
