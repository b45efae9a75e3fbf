package org.stele.tserver.bench;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.core.settings.StandardSettings;

/**
 * One of the Stele servers that a benchmark measures.
 *
 * @param system as the JSON key of that name says it
 * @param serverType null: the default
 * @param selectors null: the default
 * @param settings other settings of the server
 */
record ServerVariant(
    String system,
    @Nullable String serverType,
    @Nullable Integer selectors,
    Map<String, String> settings) {
  /** The name of the system, of a server that is the only one. */
  static final String STELE = "stele";

  ServerVariant {
    settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
  }

  /** What the server is started with. */
  Map<String, String> allSettings() {
    Map<String, String> all = new LinkedHashMap<>();
    if (serverType != null) {
      all.put(StandardSettings.RPC_SERVER_TYPE.name(), serverType);
    }
    if (selectors != null) {
      all.put(StandardSettings.RPC_SELECTORS.name(), selectors.toString());
    }
    all.putAll(settings);
    return all;
  }

  /** This one with a setting more, unless it is told that setting already. */
  ServerVariant withDefault(String setting, String value) {
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.putIfAbsent(setting, value);
    return new ServerVariant(system, serverType, selectors, all);
  }

  /** What the JSON objects say about the server's endpoint; null is the default. */
  Map<String, @Nullable Object> endpoint() {
    Map<String, @Nullable Object> endpoint = new LinkedHashMap<>();
    endpoint.put("server_type", serverType);
    endpoint.put("selectors", selectors);
    return endpoint;
  }
}
