package org.stele.tserver.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.stele.client.cli.CommandFailure;

class LevelTest {
  private static final Duration SHORT = Duration.ofMillis(200);

  @Test
  void countsWhatHappensWhileItMeasuresAndClosesOperations() {
    AtomicInteger closed = new AtomicInteger();
    Set<String> threads = ConcurrentHashMap.newKeySet();
    Level level =
        new Level(
            3,
            ProcessHandle.current().pid(),
            (thread, all) ->
                new BenchOperation() {
                  @Override
                  public int run() {
                    threads.add(Thread.currentThread().getName());
                    LockSupport.parkNanos(1_000_000);
                    return 2;
                  }

                  @Override
                  public void close() {
                    closed.incrementAndGet();
                  }
                });
    LevelResult result = level.run(SHORT, SHORT);
    assertEquals(3, closed.get());
    assertEquals(Set.of("bench-0", "bench-1", "bench-2"), threads);
    assertEquals(result.latencies().calls() * 2, result.latencies().requests());
    assertTrue(result.latencies().calls() > 3 && result.latencies().calls() <= 3 * 220);
    assertTrue(result.latencies().percentileMillis(50) >= 1, () -> "" + result.toJson());
    assertTrue(result.requestsPerSecond() > 0);
    Map<String, Object> json = result.toJson();
    assertTrue(
        json.keySet()
            .containsAll(
                Set.of(
                    "threads",
                    "ops_per_s",
                    "avg_ms",
                    "p50_ms",
                    "p99_ms",
                    "max_ms",
                    "server_user_us",
                    "server_sys_us",
                    "ctx_switches")));
    assertTrue((Double) json.get("ctx_switches") > 0, json::toString);
  }

  @Test
  void costOfAnUnknownServerIsNull() {
    LevelResult result = new Level(1, null, (thread, all) -> () -> 1).run(SHORT, SHORT);
    assertNull(result.toJson().get("server_user_us"));
    assertNull(result.toJson().get("ctx_switches"));
  }

  @Test
  void failureOfOneThreadEndsTheLevel() {
    Level level =
        new Level(
            2,
            null,
            (thread, all) ->
                () -> {
                  if (thread == 1) {
                    throw new IllegalStateException("wrong answer");
                  }
                  return 1;
                });
    CommandFailure e =
        assertThrows(
            CommandFailure.class, () -> level.run(Duration.ofMinutes(1), Duration.ofMinutes(1)));
    assertEquals("the benchmark failed: wrong answer", e.getMessage());
  }

  @Test
  void runsUntilAConditionHolds() {
    AtomicInteger runs = new AtomicInteger();
    new Level(2, null, (thread, all) -> runs::incrementAndGet).runUntil(() -> runs.get() > 100);
    assertTrue(runs.get() > 100);
  }

  @Test
  void latenciesAreExactWithinAThousandth() {
    Latencies latencies = new Latencies();
    Latencies other = new Latencies();
    for (int i = 1; i <= 100; i++) {
      (i % 2 == 0 ? latencies : other).record(i * 1_000_000L, 1);
    }
    latencies.add(other);
    assertEquals(100, latencies.calls());
    assertEquals(50.5, latencies.meanMillis(), 1e-9);
    assertEquals(50, latencies.percentileMillis(50), 0.05);
    assertEquals(99, latencies.percentileMillis(99), 0.1);
    assertEquals(100, latencies.percentileMillis(100), 0.1);
    assertEquals(100, latencies.maxMillis());
    latencies.record(Long.MAX_VALUE / 2, 1);
    assertEquals(Math.scalb(1.0, 62) / 1e6, latencies.maxMillis());
    assertEquals(0, new Latencies().meanMillis());
  }
}
