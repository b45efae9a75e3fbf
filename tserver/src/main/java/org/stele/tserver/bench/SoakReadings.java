package org.stele.tserver.bench;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.stele.client.cli.CommandFailure;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.RpcClient;
import org.stele.client.rpc.RpcOptions;
import org.stele.client.rpc.ServerCalls;
import org.stele.core.time.Clock;

/**
 * What a server of our own holds that must not grow, read from outside and asked over a connection
 * that stays. Scans keep nothing in a server between their batches: those that are under way are
 * calls. Used by one thread.
 */
final class SoakReadings implements AutoCloseable {
  /** Counters of the server that say how much there is now. */
  private static final List<String> COUNTERS =
      List.of(
          "rpc.connections",
          "rpc.queue.calls",
          "rpc.queue.system.calls",
          "rpc.queue.bytes",
          "rpc.read.bytes",
          "rpc.reply.bytes");

  private static final String HEAP = "heap bytes";
  private static final String RESIDENT = "resident KiB";

  /** The server goes on with its own work, and its histograms have grown a little. */
  private static final long HEAP_SLACK = 8 << 20;

  /** Without a full collection, what is resident is mostly garbage. */
  private static final long RESIDENT_SLACK_KIB = 512 << 10;

  private static final int REST_READINGS = 30;
  private static final long POLL_MILLIS = 100;
  private static final int MAX_ANSWER_BYTES = 1 << 20;
  private static final Duration CALL_LIMIT = Duration.ofSeconds(30);

  private final String address;
  private final long pid;
  private final Clock clock = Clock.system();
  private final RpcClient rpc;
  private final ServerCalls calls;

  SoakReadings(String address, long pid) {
    this.address = address;
    this.pid = pid;
    rpc =
        new RpcClient(
            new RpcOptions(CALL_LIMIT, 1, MAX_ANSWER_BYTES, "", new SecureRandom().nextLong()),
            clock,
            () -> "");
    calls = new ServerCalls(rpc);
  }

  /** What there is while nobody calls: read until nothing has become less for a while. */
  Map<String, Long> base(Duration limit) {
    readHeap(); // the first has the virtual machine start what it needs for it
    long deadline = clock.nanos() + limit.toNanos();
    Map<String, Long> least = read();
    for (int same = 0; same < REST_READINGS && clock.nanos() - deadline < 0; same++) {
      BenchServer.pause(POLL_MILLIS);
      for (Map.Entry<String, Long> now : read().entrySet()) {
        if (now.getValue() < least.getOrDefault(now.getKey(), 0L)) {
          least.put(now.getKey(), now.getValue());
          same = -1;
        }
      }
    }
    least.putAll(readHeap());
    return least;
  }

  /** Reads until all are back at their base, or for so long. */
  List<SoakGauge> awaitBack(Map<String, Long> base, Duration limit) {
    long deadline = clock.nanos() + limit.toNanos();
    while (true) {
      Map<String, Long> now = read();
      boolean late = clock.nanos() - deadline > 0;
      if (late || compare(base, now).stream().allMatch(SoakGauge::isBack)) {
        now.putAll(readHeap());
        List<SoakGauge> gauges = compare(base, now);
        if (late || gauges.stream().allMatch(SoakGauge::isBack)) {
          return gauges;
        }
      }
      BenchServer.pause(POLL_MILLIS);
    }
  }

  private static List<SoakGauge> compare(Map<String, Long> base, Map<String, Long> now) {
    List<SoakGauge> gauges = new ArrayList<>();
    now.forEach(
        (name, end) ->
            gauges.add(new SoakGauge(name, base.getOrDefault(name, 0L), end, slack(name))));
    return gauges;
  }

  private static long slack(String name) {
    return switch (name) {
      case HEAP -> HEAP_SLACK;
      case RESIDENT -> RESIDENT_SLACK_KIB;
      default -> 0;
    };
  }

  private Map<String, Long> read() {
    Map<String, Long> counters; // come first: our own connection is a descriptor of the server, too
    try {
      counters =
          calls
              .status(address, new CallLimits(clock.nanos() + CALL_LIMIT.toNanos(), 1, 0))
              .counters();
    } catch (AttemptException e) {
      throw new CommandFailure("the server does not say its status: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
    ProcessHoldings holdings = holdings();
    Map<String, Long> readings = new LinkedHashMap<>();
    readings.put("descriptors", holdings.descriptors());
    readings.put("threads", holdings.threads());
    for (String name : COUNTERS) {
      Long value = counters.get(name);
      if (value == null) {
        throw new CommandFailure("the server does not say " + name);
      }
      readings.put(name, value);
    }
    return readings;
  }

  private Map<String, Long> readHeap() {
    Long heap = LiveHeap.bytes(pid);
    return heap == null ? Map.of(RESIDENT, holdings().residentKib()) : Map.of(HEAP, heap);
  }

  private ProcessHoldings holdings() {
    ProcessHoldings holdings = ProcessHoldings.of(pid);
    if (holdings == null) {
      throw new CommandFailure("the server's process " + pid + " is gone, or /proc is not there");
    }
    return holdings;
  }

  @Override
  public void close() {
    rpc.close();
  }
}
