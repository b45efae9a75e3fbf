package org.stele.tserver.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was measured at one level.
 *
 * @param nanos the measured time
 * @param server what the server process used in that time; null if it is not known
 */
record LevelResult(
    int threads, long nanos, Latencies latencies, ProcessUsage.@Nullable Difference server) {
  double requestsPerSecond() {
    return latencies.requests() / (nanos / 1e9);
  }

  /**
   * The common part of a level's JSON object; a cost is null if it is not known. {@code
   * selector_cpu} is how many processors the endpoint's selector threads used.
   */
  Map<String, @Nullable Object> toJson() {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("threads", threads);
    object.put("ops_per_s", rounded(requestsPerSecond(), 10));
    object.put("avg_ms", rounded(latencies.meanMillis(), 10_000));
    object.put("p50_ms", rounded(latencies.percentileMillis(50), 10_000));
    object.put("p99_ms", rounded(latencies.percentileMillis(99), 10_000));
    object.put("max_ms", rounded(latencies.maxMillis(), 10_000));
    object.put("server_user_us", perRequest(server == null ? null : server.userMicros()));
    object.put("server_sys_us", perRequest(server == null ? null : server.systemMicros()));
    object.put(
        "ctx_switches",
        perRequest(server == null ? null : server.voluntary() + server.involuntary()));
    object.put("ctx_voluntary", perRequest(server == null ? null : server.voluntary()));
    object.put("ctx_involuntary", perRequest(server == null ? null : server.involuntary()));
    object.put(
        "selector_cpu",
        server == null ? null : rounded(server.selectorMicros() * 1000.0 / nanos, 1000));
    return object;
  }

  private @Nullable Double perRequest(@Nullable Long total) {
    if (total == null || latencies.requests() == 0) {
      return null;
    }
    return rounded((double) total / latencies.requests(), 10_000);
  }

  static double rounded(double value, double parts) {
    return Math.round(value * parts) / parts;
  }
}
