package org.stele.client;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.client.ClientFixture.splits;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/** Batch writers against fake servers. */
class BatchWriterTest {
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

  @ParameterizedTest
  @ValueSource(longs = {1, 1024, 65536, 16 << 20})
  void everyMutationIsDoneOrReportedWhateverTheBuffer(long buffer) throws Exception {
    String id = cluster.createTable("bulk", splits("02", "05", "07"));
    Random random = new Random(buffer);
    cluster.fault =
        (server, method, request) -> {
          synchronized (random) {
            int chance = random.nextInt(1000);
            return chance < 10
                ? FakeCluster.Effect.ANSWER_LOST
                : chance < 20
                    ? FakeCluster.Effect.CALL_LOST
                    : chance < 50 ? FakeCluster.Effect.NOT_SERVING : FakeCluster.Effect.NONE;
          }
        };
    cluster.refusedRows.put(
        Bytes.of("03-7-1"), new SteleException(ErrorCode.CONSTRAINT, "not this one"));
    cluster.refusedRows.put(
        Bytes.of("08-2-2"), new SteleException(ErrorCode.TOO_LARGE, "nor this"));
    Set<Bytes> sent = ConcurrentHashMap.newKeySet();
    Set<Bytes> failed = ConcurrentHashMap.newKeySet();
    int threads = buffer < 100 ? 4 : 16;
    int perThread = buffer < 100 ? 10 : 200;
    BatchWriter writer =
        client.batchWriter("bulk", BatchWriterOptions.defaults().withBufferBytes(buffer));
    List<Thread> adders = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int adder = t;
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < perThread; i++) {
                  Mutation mutation =
                      Mutation.of(String.format("%02d-%d-%d", i % 10, adder, i / 10 % 10))
                          .put("f", "q" + i / 100, "x".repeat(i % 7 == 0 ? 3000 : 20));
                  while (true) {
                    try {
                      writer.add(mutation);
                      sent.add(mutation.row());
                      break;
                    } catch (MutationsFailedException e) {
                      e.failures().forEach(one -> failed.add(one.mutation().row()));
                    }
                  }
                  if (i % 50 == 49 && adder % 4 == 0) {
                    flush(writer, failed);
                  }
                }
              },
              "adder-" + t);
      thread.start();
      adders.add(thread);
    }
    for (Thread thread : adders) {
      thread.join();
    }
    try {
      writer.close();
    } catch (MutationsFailedException e) {
      e.failures().forEach(one -> failed.add(one.mutation().row()));
    }
    writer.close();
    assertThrows(
        IllegalStateException.class, () -> writer.add(Mutation.of("a").put("f", "q", "v")));
    Set<Bytes> refused = new HashSet<>(cluster.refusedRows.keySet());
    refused.retainAll(sent);
    assertEquals(refused, failed);
    Set<Bytes> there = new HashSet<>();
    cluster.expected(id, Range.all()).forEach(cell -> there.add(cell.row()));
    Set<Bytes> wanted = new HashSet<>(sent);
    wanted.removeAll(refused);
    assertEquals(wanted, there);
  }

  private static void flush(BatchWriter writer, Set<Bytes> failed) {
    try {
      writer.flush();
    } catch (MutationsFailedException e) {
      e.failures().forEach(one -> failed.add(one.mutation().row()));
    }
  }

  @Test
  void laterMutationsOfARowWinWhateverFails() {
    String id = cluster.createTable("ordered", splits("5"));
    Random random = new Random(5);
    cluster.fault =
        (server, method, request) -> {
          synchronized (random) {
            return random.nextInt(4) == 0
                ? FakeCluster.Effect.NOT_SERVING
                : FakeCluster.Effect.NONE;
          }
        };
    try (BatchWriter writer =
        client.batchWriter("ordered", BatchWriterOptions.defaults().withBufferBytes(2000))) {
      for (int i = 0; i < 300; i++) {
        for (int row = 0; row < 10; row++) {
          writer.add(Mutation.of("" + row).put("f", "q", "" + i));
        }
      }
    }
    for (int row = 0; row < 10; row++) {
      List<Cell> cells = cluster.expected(id, Range.row("" + row));
      for (int i = 0; i < 300; i++) { // newest first
        assertEquals("" + (299 - i), cells.get(i).value().toUtf8());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"SILENCE", "CALL_LOST", "BUSY", "killed", "unassigned"})
  void deadServersEndAddFlushAndCloseWithinTheDeadline(String how) throws Exception {
    String id = cluster.createTable("dead", splits("5"));
    client.write("dead", Mutation.of("1").put("f", "q", "v"));
    switch (how) {
      case "killed" -> cluster.kill(1);
      case "unassigned" -> cluster.unassign(id, Bytes.of("9"));
      default ->
          cluster.fault =
              (server, method, request) ->
                  server == 1 ? FakeCluster.Effect.valueOf(how) : FakeCluster.Effect.NONE;
    }
    try (SteleClient quick = fixture.connect(Duration.ofSeconds(2), Duration.ofMillis(500))) {
      BatchWriter writer =
          quick.batchWriter("dead", BatchWriterOptions.defaults().withBufferBytes(1024));
      Set<Bytes> taken = ConcurrentHashMap.newKeySet();
      Set<Bytes> failed = ConcurrentHashMap.newKeySet();
      List<Thread> adders = new ArrayList<>();
      long start = System.nanoTime();
      for (int t = 0; t < 8; t++) {
        int adder = t;
        Thread thread =
            new Thread(
                () -> {
                  for (int i = 0; i < 20; i++) {
                    Mutation mutation =
                        Mutation.of(i % 10 + "-" + adder + "-" + i).put("f", "q", "x".repeat(200));
                    try {
                      writer.add(mutation);
                      taken.add(mutation.row());
                    } catch (MutationsFailedException e) {
                      e.failures().forEach(one -> failed.add(one.mutation().row()));
                    } catch (SteleException e) {
                      return; // no room in time
                    }
                    if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(4)) {
                      return;
                    }
                  }
                },
                "adder");
        thread.start();
        adders.add(thread);
      }
      for (Thread thread : adders) {
        thread.join(30_000);
        assertTrue(!thread.isAlive(), "add hangs");
      }
      long closing = System.nanoTime();
      try {
        writer.close();
      } catch (MutationsFailedException e) { // unless each failure was told by an add already
        e.failures().forEach(one -> failed.add(one.mutation().row()));
      }
      long millis = (System.nanoTime() - closing) / 1_000_000;
      assertTrue(millis < 6000, millis + " ms");
      assertFalse(failed.isEmpty(), "nothing was reported as failed");
      Set<Bytes> there = new HashSet<>();
      cluster.expected(id, Range.all()).forEach(cell -> there.add(cell.row()));
      for (Bytes row : taken) {
        assertTrue(there.contains(row) || failed.contains(row), row + " is lost");
      }
      for (Bytes row : failed) {
        assertTrue(taken.contains(row), row + " was never taken");
      }
    }
  }

  @Test
  void oldMutationsAreSentWithoutAFlush() {
    String id = cluster.createTable("lazy", List.of());
    BatchWriter writer =
        client.batchWriter(
            "lazy", BatchWriterOptions.defaults().withMaxLatency(Duration.ofMillis(50)));
    writer.add(Mutation.of("a").put("f", "q", "v"));
    await().until(() -> cluster.expected(id, Range.all()).size() == 1);
    writer.close();
    assertEquals(1, cluster.writeCalls.get());
  }

  // ---- What the writer cannot send is told

  private static Set<Bytes> rows(MutationsFailedException e) {
    Set<Bytes> rows = new HashSet<>();
    e.failures().forEach(one -> assertTrue(rows.add(one.mutation().row()), "told twice"));
    return rows;
  }

  private static Mutation put(String row) {
    return Mutation.of(row).put("f", "q", "v");
  }

  private BatchWriter writer(Duration latency) {
    return client.batchWriter("t", BatchWriterOptions.defaults().withMaxLatency(latency));
  }

  @Test
  void mutationsThatWaitWhenTheClientEndsAreToldByFlushAndClose() {
    cluster.createTable("t", List.of());
    BatchWriter flushed = writer(Duration.ofHours(1));
    BatchWriter closed = writer(Duration.ofHours(1));
    BatchWriter goingOn = writer(Duration.ofHours(1));
    for (BatchWriter writer : List.of(flushed, closed, goingOn)) {
      writer.add(put("a"), put("b"));
    }
    client.close();
    Set<Bytes> both = Set.of(Bytes.of("a"), Bytes.of("b"));
    assertEquals(both, rows(assertThrows(MutationsFailedException.class, flushed::flush)));
    assertEquals(both, rows(assertThrows(MutationsFailedException.class, closed::close)));
    assertEquals(
        both, rows(assertThrows(MutationsFailedException.class, () -> goingOn.add(put("c")))));
    assertThrows(SteleException.class, () -> goingOn.add(put("c")));
    for (BatchWriter writer : List.of(flushed, closed, goingOn)) {
      writer.close(); // all was told
    }
  }

  @Test
  void mutationsUnderWayWhenTheClientEndsAreUnknownAndThoseBehindThemNotDone() {
    cluster.createTable("t", List.of());
    AtomicInteger calls = new AtomicInteger();
    cluster.fault =
        (server, method, request) -> {
          calls.incrementAndGet();
          return FakeCluster.Effect.SILENCE;
        };
    BatchWriter writer = writer(Duration.ofMillis(1));
    writer.add(put("sent"));
    await().until(() -> calls.get() == 1);
    writer.add(put("waiting"));
    client.close();
    MutationsFailedException e = assertThrows(MutationsFailedException.class, writer::close);
    assertEquals(Set.of(Bytes.of("sent"), Bytes.of("waiting")), rows(e));
    for (FailedMutation one : e.failures()) {
      assertEquals(one.mutation().row().equals(Bytes.of("sent")), one.isOutcomeUnknown());
    }
  }

  @Test
  void interruptOfTheSendingThreadLosesNothing() {
    String id = cluster.createTable("t", List.of());
    AtomicInteger calls = new AtomicInteger();
    cluster.fault =
        (server, method, request) ->
            calls.incrementAndGet() == 1 ? FakeCluster.Effect.SILENCE : FakeCluster.Effect.NONE;
    BatchWriter writer = writer(Duration.ofMillis(1));
    writer.add(put("sent"));
    await().until(() -> calls.get() == 1);
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("stele-client-writer"))
        .forEach(Thread::interrupt);
    await()
        .untilAsserted(
            () -> {
              MutationsFailedException e =
                  assertThrows(MutationsFailedException.class, writer::flush);
              assertEquals(Set.of(Bytes.of("sent")), rows(e));
              assertEquals(ErrorCode.UNKNOWN_OUTCOME, e.code());
            });
    writer.add(put("later")); // by the same thread
    await().until(() -> cluster.expected(id, Range.all()).size() == 1);
    writer.close();
  }

  @Test
  void interruptedCloseNamesWhatIsNotDone() {
    cluster.createTable("t", List.of());
    BatchWriter writer = writer(Duration.ofHours(1));
    writer.add(put("a"), put("b"));
    Thread.currentThread().interrupt();
    MutationsFailedException e = assertThrows(MutationsFailedException.class, writer::close);
    assertTrue(Thread.interrupted());
    assertEquals(Set.of(Bytes.of("a"), Bytes.of("b")), rows(e));
    assertEquals(ErrorCode.UNAVAILABLE, e.code());
    assertEquals(OperationInterruptedException.class, e.getSuppressed()[0].getClass());
  }
}
