package org.stele.server.rpc;

import java.util.Map;

/** The ways of serving that must behave alike. */
enum ServerKind {
  THREADED_SELECTOR,
  CUSTOM_HS_HA,
  THREADPOOL;

  Map<String, String> settings() {
    return switch (this) {
      case THREADED_SELECTOR ->
          Map.of("rpc.server.type", "threaded_selector", "rpc.selectors", "2");
      case CUSTOM_HS_HA -> Map.of("rpc.server.type", "custom_hs_ha");
      case THREADPOOL -> Map.of("rpc.server.type", "threadpool");
    };
  }
}
