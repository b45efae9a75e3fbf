package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.process.StandaloneServer;

/**
 * A client that writes and looks up all the time, one thing after the other, and remembers how long
 * it had to wait, while a test does something to its server.
 */
final class HealthyClient implements AutoCloseable {
  private static final String TABLE = "healthy";
  private static final int ROWS = 1000;
  private static final Duration LONGEST_PAUSE = TestForm.generous(Duration.ofSeconds(1));

  private final SteleClient client;
  private final String address;
  private final Thread thread;
  private final AtomicLong operations = new AtomicLong();
  private final AtomicLong longestNanos = new AtomicLong();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private volatile boolean closed;

  private HealthyClient(StandaloneServer server) {
    client = server.client();
    address = server.address();
    client.tables().create(TABLE);
    thread = new Thread(this::run, "healthy-client");
    thread.start();
  }

  static HealthyClient start(StandaloneServer server) {
    return new HealthyClient(server);
  }

  private void run() {
    while (!closed) {
      long begin = System.nanoTime();
      try {
        String row = "row" + operations.get() % ROWS;
        client.write(TABLE, Mutation.of(row).put("f", "q", row));
        assertEquals(row, client.lookup(TABLE, row).get("f", "q"));
      } catch (Throwable e) {
        if (!closed) {
          failures.add(e);
        }
      }
      long took = System.nanoTime() - begin;
      longestNanos.accumulateAndGet(took, Math::max);
      operations.incrementAndGet();
    }
  }

  long operations() {
    return operations.get();
  }

  /** Waits until it has done so many more. */
  void awaitOperations(int more) {
    long wanted = operations.get() + more;
    Conditions.await(
        more + " operations of the healthy client",
        TestForm.generous(Duration.ofSeconds(20)),
        () -> operations.get() >= wanted || !failures.isEmpty());
    assertEquals(List.of(), failures);
    longestNanos.set(0);
  }

  /** No failure, no long pause since the last {@link #awaitOperations}, and it is still at it. */
  void assertUndisturbed() {
    long before = operations.get();
    Conditions.await("the healthy client goes on", LONGEST_PAUSE, () -> operations.get() > before);
    assertEquals(List.of(), failures, "failures of the healthy client");
    Duration longest = Duration.ofNanos(longestNanos.get());
    assertTrue(
        longest.compareTo(LONGEST_PAUSE) < 0, () -> "the healthy client waited for " + longest);
  }

  /** What the server has counted. */
  Map<String, Long> counters() {
    return client.servers().status(address).counters();
  }

  static long counter(Map<String, Long> counters, String name) {
    Long count = counters.get(name);
    if (count == null) {
      throw new AssertionError("no counter " + name + " in " + counters.keySet());
    }
    return count;
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    client.close();
  }
}
