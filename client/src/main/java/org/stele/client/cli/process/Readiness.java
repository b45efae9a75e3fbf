package org.stele.client.cli.process;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.stele.client.ClientOptions;
import org.stele.client.ServerStatus;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Session;
import org.stele.client.instance.ServerProcess;
import org.stele.client.instance.ServerStatusFile;
import org.stele.core.error.SteleException;

/**
 * Whether a server serves, or why not. What it wrote about itself is not enough: it has to answer a
 * call.
 *
 * @param pid null if the server is not on this machine, or does not run
 * @param reason null if it is ready
 * @param counters what the server has counted; empty if it does not answer
 */
record Readiness(
    @Nullable Long pid,
    @Nullable String reason,
    @Nullable String address,
    @Nullable String zookeeper,
    @Nullable String http,
    @Nullable String version,
    Map<String, Long> counters) {
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

  boolean ready() {
    return reason == null;
  }

  static Readiness notRunning(String reason) {
    return new Readiness(null, reason, null, null, null, null, Map.of());
  }

  /** Of the server process of a directory. */
  static Readiness of(CommandContext context, ServerProcess process, ClientOptions clientOptions) {
    ServerStatusFile status = process.status();
    if (status == null) {
      return new Readiness(process.pid(), "it is starting", null, null, null, null, Map.of());
    }
    Readiness called = of(context, status.zookeeper(), clientOptions);
    return new Readiness(
        process.pid(),
        called.reason(),
        status.address(),
        status.zookeeper(),
        status.http(),
        status.version(),
        called.counters());
  }

  /** Of a server of the instance with this connect string. */
  static Readiness of(CommandContext context, String connectString, ClientOptions clientOptions) {
    Duration timeout =
        context.timeout().compareTo(CALL_TIMEOUT) < 0 ? context.timeout() : CALL_TIMEOUT;
    try (Session session = context.connect(connectString, clientOptions.withDeadline(timeout))) {
      ServerStatus server = session.server();
      String reason = null;
      if (!server.ready()) {
        String why = server.notReadyReason();
        reason = why == null ? "it says that it is not ready" : why;
      } else {
        // Reads the metadata: not only the endpoint answers.
        session.tables();
      }
      return new Readiness(
          null, reason, server.address(), connectString, null, server.version(), server.counters());
    } catch (SteleException e) {
      return new Readiness(
          null, "it does not answer: " + e.getMessage(), null, connectString, null, null, Map.of());
    }
  }

  Map<String, @Nullable Object> toJson() {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("pid", pid);
    object.put("ready", ready());
    object.put("address", address);
    object.put("zookeeper", zookeeper);
    if (http != null) {
      object.put("http", http);
    }
    object.put("version", version);
    if (reason != null) {
      object.put("reason", reason);
    }
    if (!counters.isEmpty()) {
      object.put("counters", new TreeMap<>(counters));
    }
    return object;
  }
}
