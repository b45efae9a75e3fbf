package org.stele.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.client.ClientFixture.all;
import static org.stele.client.ClientFixture.splits;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.client.retry.RetryOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/** What the client does when servers are overloaded, silent, or have tablets no more. */
class ClientRetryTest {
  private ClientFixture fixture;
  private FakeCluster cluster;
  private SteleClient client;

  @BeforeEach
  void start() throws Exception {
    fixture = new ClientFixture();
    cluster = fixture.cluster;
    client = fixture.client;
  }

  @AfterEach
  void stop() throws Exception {
    fixture.close();
  }

  @Test
  void tabletThatMovedAwayFromASilentServerIsFoundByEveryKindOfCall() throws Exception {
    String id = cluster.createTable("t", splits("m"));
    client.write("t", Mutation.of("a").put("f", "q", "v"));
    try (SteleClient quick = fixture.connect(Duration.ofSeconds(20), Duration.ofMillis(300))) {
      List<Runnable> calls =
          List.of(
              () -> quick.lookup("t", "a"),
              () -> quick.lookupAsync("t", Bytes.of("a")).join(),
              () -> quick.write("t", Mutation.of("a").put("f", "q", "w")),
              () -> quick.writeAsync("t", Mutation.of("a").put("f", "q", "w")).join(),
              () -> all(quick.scanner("t").range(Range.row("a")).open()),
              () -> {
                try (BatchWriter writer = quick.batchWriter("t")) {
                  writer.add(Mutation.of("a").put("f", "q", "x"));
                }
              });
      for (Runnable call : calls) {
        cluster.fault = (server, method, request) -> FakeCluster.Effect.NONE;
        cluster.move(id, Bytes.of("a"), 0);
        quick.lookup("t", "a"); // the location is known
        cluster.fault =
            (server, method, request) ->
                server == 0 ? FakeCluster.Effect.SILENCE : FakeCluster.Effect.NONE;
        cluster.move(id, Bytes.of("a"), 2);
        long start = System.nanoTime();
        call.run();
        long millis = (System.nanoTime() - start) / 1_000_000;
        assertTrue(millis < 5000, millis + " ms");
      }
    }
  }

  private record Attempt(int number, long sinceFirstMillis, long deadlineNanos, long atNanos) {}

  @Test
  void busyCallsComeAgainWhenTheServerSaidWithTheirFirstDeadline() throws Exception {
    String id = cluster.createTable("t", List.of());
    cluster.load(id, Mutation.of("a").put("f", "q", "v"));
    cluster.retryAfterMillis = 40;
    List<Attempt> attempts = new CopyOnWriteArrayList<>();
    cluster.fault =
        (server, method, request) -> {
          attempts.add(
              new Attempt(
                  request.header.attempt(),
                  request.header.sinceFirstAttemptMillis(),
                  request.header.deadlineNanos(),
                  System.nanoTime()));
          return attempts.size() % 4 == 0 ? FakeCluster.Effect.NONE : FakeCluster.Effect.BUSY;
        };
    List<Runnable> calls =
        List.of(
            () -> client.lookup("t", "a"),
            () -> client.lookupAsync("t", Bytes.of("a")).join(),
            () -> client.write("t", Mutation.of("b").put("f", "q", "v")),
            () -> client.writeAsync("t", Mutation.of("b").put("f", "q", "v")).join(),
            () -> all(client.scanner("t").range(Range.row("a")).open()),
            () -> {
              try (BatchWriter writer = client.batchWriter("t")) {
                writer.add(Mutation.of("b").put("f", "q", "v"));
              }
            });
    for (Runnable call : calls) {
      attempts.clear();
      call.run();
      assertEquals(4, attempts.size());
      for (int i = 1; i < 4; i++) {
        Attempt before = attempts.get(i - 1);
        Attempt retry = attempts.get(i);
        assertEquals(i + 1, retry.number());
        long waited = retry.atNanos() - before.atNanos();
        assertTrue(waited >= 40_000_000, "again after " + waited + " ns");
        assertTrue(retry.sinceFirstMillis() >= 40L * i, retry.toString());
        long moved = retry.deadlineNanos() - before.deadlineNanos();
        assertTrue(Math.abs(moved) < 5_000_000, "the deadline moved by " + moved + " ns");
      }
    }
  }

  @Test
  void spentRetryBudgetGivesBusyToTheCaller() {
    cluster.createTable("t", List.of());
    AtomicInteger calls = new AtomicInteger();
    cluster.fault =
        (server, method, request) -> {
          calls.incrementAndGet();
          return FakeCluster.Effect.BUSY;
        };
    try (SteleClient frugal =
        SteleClient.connect(
            cluster.connectString(),
            ClientOptions.defaults()
                .withRetry(
                    RetryOptions.defaults()
                        .withWaits(Duration.ofMillis(1), Duration.ofMillis(2))
                        .withBudget(0, 0, 5)))) {
      SteleException e = assertThrows(SteleException.class, () -> frugal.lookup("t", "a"));
      assertEquals(ErrorCode.BUSY, e.code());
      assertEquals(cluster.retryAfterMillis, e.retryAfterMillis());
      assertTrue(e.getMessage().contains("retry budget"), e.getMessage());
      assertEquals(6, calls.get());
      SteleException again =
          assertThrows(
              SteleException.class, () -> frugal.write("t", Mutation.of("a").put("f", "q", "v")));
      assertEquals(ErrorCode.BUSY, again.code());
      assertEquals(7, calls.get());
    }
  }

  @Test
  void deadServerEndsOperationsWithAMessageThatNamesEverything() {
    cluster.createTable("t", List.of());
    try (SteleClient quick = fixture.connect(Duration.ofSeconds(1), Duration.ofMillis(300))) {
      quick.write("t", Mutation.of("a").put("f", "q", "v"));
      cluster.fault = (server, method, request) -> FakeCluster.Effect.SILENCE;
      SteleException read = assertThrows(SteleException.class, () -> quick.lookup("t", "a"));
      assertEquals(ErrorCode.DEADLINE_EXCEEDED, read.code());
      assertTrue(
          read.getMessage()
              .matches(
                  "(?s)lookup of row a of table t failed at server 127\\.0\\.0\\.1:\\d+ after \\d+ attempts in"
                      + " \\d+ ms: .*x\\d+ t\\d+\\(.*"),
          read.getMessage());
      SteleException write =
          assertThrows(
              SteleException.class, () -> quick.write("t", Mutation.of("a").put("f", "q", "v")));
      assertEquals(ErrorCode.UNKNOWN_OUTCOME, write.code());
      ExecutionException async =
          assertThrows(ExecutionException.class, () -> quick.lookupAsync("t", Bytes.of("a")).get());
      assertEquals(ErrorCode.DEADLINE_EXCEEDED, ((SteleException) async.getCause()).code());
    }
  }
}
