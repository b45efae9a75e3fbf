package org.stele.client;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.client.retry.RetryOptions;
import org.stele.core.data.Bound;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/** The whole client against fake servers. */
class SteleClientTest {
  private static final Bytes F = Bytes.of("f");

  private FakeCluster cluster;
  private SteleClient client;

  @BeforeEach
  void start() throws Exception {
    cluster = new FakeCluster(3);
    client = connect(Duration.ofSeconds(20), Duration.ofSeconds(5));
  }

  private SteleClient connect(Duration deadline, Duration attempt) {
    return SteleClient.connect(
        cluster.connectString(),
        ClientOptions.defaults()
            .withDeadline(deadline)
            .withAttemptTimeout(attempt)
            .withRetry(
                RetryOptions.defaults()
                    .withWaits(Duration.ofMillis(1), Duration.ofMillis(50))
                    .withBudget(10, 1000, 1_000_000)));
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("stele-client-")));
    cluster.close();
  }

  private static List<Bytes> splits(String... rows) {
    return java.util.Arrays.stream(rows).map(Bytes::of).toList();
  }

  private static List<Cell> all(Iterable<Cell> cells) {
    List<Cell> all = new ArrayList<>();
    cells.forEach(all::add);
    return all;
  }

  // ---- Lookups, single writes, names

  @Test
  void writesAndLooksUpAcrossTablets() throws Exception {
    cluster.createTable("people", splits("g", "p"));
    for (String row : List.of("ada", "g", "gg", "zed")) {
      client.write("people", Mutation.of(row).put("name", "full", row + "!"));
      assertEquals(row + "!", client.lookup("people", row).get("name", "full"));
    }
    client.writeAsync("people", Mutation.of("x").put("f", "q", "async")).get(10, TimeUnit.SECONDS);
    assertEquals(
        "async",
        client.lookupAsync("people", Bytes.of("x")).get(10, TimeUnit.SECONDS).get("f", "q"));
    assertTrue(client.lookup("people", "nobody").isEmpty());
    assertNull(client.lookup("people", "x", Column.of("f", "other")).get("f", "q"));
    assertThrows(IllegalArgumentException.class, () -> client.lookup("people", ""));
    assertEquals(splits("g", "p"), client.tables().splits("people"));
    assertEquals(3, client.tables().tablets("people").size());
    assertTrue(client.tables().exists("people"));
    assertEquals(
        List.of("people"), client.tables().list().stream().map(TableDescription::name).toList());
  }

  @Test
  void unknownTablesAreNamedForEveryKindOfCall() {
    List<Runnable> calls =
        List.of(
            () -> client.lookup("nowhere", "a"),
            () -> client.write("nowhere", Mutation.of("a").put("f", "q", "v")),
            () -> all(client.scanner("nowhere").open()),
            () -> client.tables().splits("nowhere"),
            () -> client.tables().describe("nowhere"));
    for (Runnable call : calls) {
      SteleException e = assertThrows(SteleException.class, call::run);
      assertEquals(ErrorCode.UNKNOWN_TABLE, e.code());
      assertTrue(e.getMessage().contains("nowhere"), e.getMessage());
    }
    BatchWriter writer = client.batchWriter("nowhere");
    writer.add(Mutation.of("a").put("f", "q", "v"));
    MutationsFailedException failed = assertThrows(MutationsFailedException.class, writer::close);
    assertEquals(ErrorCode.UNKNOWN_TABLE, failed.code());
    assertEquals(
        ErrorCode.BAD_REQUEST,
        assertThrows(SteleException.class, () -> client.tables().exists("a b")).code());
  }

  @Test
  void tableMadeAnewUnderItsNameIsFound() {
    String old = cluster.createTable("again", List.of());
    client.write("again", Mutation.of("a").put("f", "q", "old"));
    cluster.deleteTable("again", old);
    cluster.createTable("again", splits("k"));
    assertTrue(client.lookup("again", "a").isEmpty());
    client.write("again", Mutation.of("a").put("f", "q", "new"));
    assertEquals("new", client.lookup("again", "a").get("f", "q"));
    assertEquals(1, all(client.scanner("again").open()).size());
  }

  @Test
  void tabletThatMovedAwayFromASilentServerIsFoundByEveryKindOfCall() throws Exception {
    String id = cluster.createTable("t", splits("m"));
    client.write("t", Mutation.of("a").put("f", "q", "v"));
    try (SteleClient quick = connect(Duration.ofSeconds(20), Duration.ofMillis(300))) {
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
    try (SteleClient quick = connect(Duration.ofSeconds(1), Duration.ofMillis(300))) {
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

  @Test
  void interruptEndsAnOperationWithinASecondAndTheClientGoesOn() throws Exception {
    cluster.createTable("t", List.of());
    client.write("t", Mutation.of("a").put("f", "q", "v"));
    AtomicBoolean silent = new AtomicBoolean(true);
    AtomicInteger calls = new AtomicInteger();
    cluster.fault =
        (server, method, request) -> {
          calls.incrementAndGet();
          return silent.get() ? FakeCluster.Effect.SILENCE : FakeCluster.Effect.NONE;
        };
    CompletableFuture<Throwable> outcome = new CompletableFuture<>();
    CompletableFuture<Boolean> flag = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                client.write("t", Mutation.of("a").put("f", "q", "w"));
              } catch (RuntimeException e) {
                flag.complete(Thread.currentThread().isInterrupted());
                outcome.complete(e);
              }
            },
            "test-caller");
    caller.start();
    await().until(() -> calls.get() == 1);
    long start = System.nanoTime();
    caller.interrupt();
    OperationInterruptedException e =
        (OperationInterruptedException) outcome.get(10, TimeUnit.SECONDS);
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(1));
    assertEquals(ErrorCode.UNKNOWN_OUTCOME, e.code());
    assertTrue(flag.get());
    silent.set(false);
    assertEquals("v", client.lookup("t", "a").get("f", "q"));
    assertEquals(2, calls.get());
  }

  @Test
  void closingTheClientEndsWaitingOperations() {
    cluster.createTable("t", List.of());
    client.write("t", Mutation.of("a").put("f", "q", "v"));
    cluster.fault = (server, method, request) -> FakeCluster.Effect.SILENCE;
    CompletableFuture<?> sync = CompletableFuture.runAsync(() -> client.lookup("t", "a"));
    CompletableFuture<?> async = client.lookupAsync("t", Bytes.of("a"));
    BatchWriter writer = client.batchWriter("t");
    writer.add(Mutation.of("b").put("f", "q", "v"));
    CompletableFuture<?> flush = CompletableFuture.runAsync(writer::flush);
    client.close();
    client.close();
    await().until(() -> sync.isDone() && async.isDone() && flush.isDone());
    assertTrue(
        sync.isCompletedExceptionally()
            && async.isCompletedExceptionally()
            && flush.isCompletedExceptionally());
    assertThrows(SteleException.class, () -> client.lookup("t", "a"));
  }

  @Test
  void impossibleDeadlinesAreRefused() {
    ClientOptions options = ClientOptions.defaults();
    for (Duration bad :
        List.of(Duration.ZERO, Duration.ofNanos(1), Duration.ofSeconds(-1), Duration.ofDays(400))) {
      assertThrows(IllegalArgumentException.class, () -> options.withDeadline(bad));
      assertThrows(IllegalArgumentException.class, () -> options.withAttemptTimeout(bad));
    }
  }

  // ---- Scans

  private String loadTable(String name, int rows, List<Bytes> splits) {
    String id = cluster.createTable(name, splits);
    for (int i = 0; i < rows; i++) {
      Mutation mutation = Mutation.of(String.format("%05d", i));
      for (int c = 0; c <= i % 5; c++) {
        mutation.put(F, Bytes.of("q" + c), Bytes.EMPTY, (long) (100 + c), Bytes.of("v" + i));
      }
      cluster.load(id, mutation);
    }
    return id;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 7, 1000})
  void scansWithTabletsOnTheMoveGiveEachCellOnce(int batchCells) throws Exception {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 0; i < 2000; i += 200) {
      splits.add(Bytes.of(String.format("%05d", i)));
    }
    String id = loadTable("moving", 2000, splits);
    cluster.batchCells = batchCells;
    List<Cell> expected = cluster.expected(id, Range.all());
    Random random = new Random(batchCells);
    cluster.fault =
        (server, method, request) -> {
          synchronized (random) {
            int chance = random.nextInt(1000);
            return chance < 10
                ? FakeCluster.Effect.ANSWER_LOST
                : chance < 40
                    ? FakeCluster.Effect.BUSY
                    : chance < 45 ? FakeCluster.Effect.NOT_SERVING : FakeCluster.Effect.NONE;
          }
        };
    AtomicBoolean over = new AtomicBoolean();
    Thread mover =
        new Thread(
            () -> {
              Random moves = new Random(1);
              while (!over.get()) {
                Bytes row = Bytes.of(String.format("%05d", moves.nextInt(2000)));
                int server = moves.nextInt(3);
                switch (moves.nextInt(3)) {
                  case 0 -> cluster.move(id, row, server);
                  case 1 -> cluster.split(id, row, server);
                  default -> cluster.merge(id, row);
                }
                Thread.onSpinWait();
                java.util.concurrent.locks.LockSupport.parkNanos(200_000);
              }
            },
            "mover");
    mover.start();
    try {
      for (int i = 0; i < (batchCells < 7 ? 1 : 4); i++) {
        assertEquals(expected, all(client.scanner("moving").open()));
      }
    } finally {
      over.set(true);
      mover.join();
    }
    if (batchCells < 5) {
      assertTrue(cluster.viewChanges.get() > 0);
    }
  }

  @Test
  void rangesEqualTheModel() {
    List<Bytes> values = new ArrayList<>();
    byte[] alphabet = {0, 1, 0x7f, (byte) 0x80, (byte) 0xfe, (byte) 0xff};
    for (byte a : alphabet) {
      values.add(Bytes.of(new byte[] {a}));
      for (byte b : alphabet) {
        values.add(Bytes.of(new byte[] {a, b}));
      }
    }
    String id =
        cluster.createTable(
            "ranges",
            List.of(
                Bytes.of(new byte[] {0}),
                Bytes.of(new byte[] {0x7f, (byte) 0xff}),
                Bytes.of(new byte[] {(byte) 0xff}),
                Bytes.of(new byte[] {(byte) 0xff, (byte) 0xff})));
    for (Bytes row : values) {
      cluster.load(
          id,
          Mutation.of(row)
              .put(F, Bytes.EMPTY, Bytes.EMPTY, 5L, Bytes.of("a"))
              .put(F, Bytes.of("q"), Bytes.EMPTY, 5L, Bytes.of("b"))
              .put(Bytes.of("g"), Bytes.of("q"), Bytes.EMPTY, 7L, Bytes.of("c")));
    }
    cluster.batchCells = 11;
    List<Range> ranges = new ArrayList<>(List.of(Range.all(), Range.prefix(Bytes.EMPTY)));
    values.forEach(prefix -> ranges.add(Range.prefix(prefix)));
    values.forEach(row -> ranges.add(Range.column(row, new Column(F, null))));
    Random random = new Random(3);
    for (int i = 0; i < 400; i++) {
      Bound start = bound(values, random);
      Bound stop = bound(values, random);
      try {
        ranges.add(new Range(random.nextInt(9) == 0 ? null : start, stop));
      } catch (IllegalArgumentException e) {
        ranges.add(new Range(stop, random.nextInt(9) == 0 ? null : start));
      }
    }
    for (Range range : ranges) {
      assertEquals(
          cluster.expected(id, range),
          all(client.scanner("ranges").range(range).open()),
          range.toString());
    }
  }

  private static Bound bound(List<Bytes> values, Random random) {
    List<Bytes> parts = new ArrayList<>();
    parts.add(values.get(random.nextInt(values.size())));
    if (random.nextBoolean()) {
      parts.add(F);
      if (random.nextBoolean()) {
        parts.add(random.nextBoolean() ? Bytes.of("q") : Bytes.EMPTY);
      }
    }
    return new Bound(parts, null, random.nextBoolean());
  }

  @Test
  void limitsPausesAndClosing() {
    String id = loadTable("limited", 300, splits("00100", "00200"));
    List<Cell> expected = cluster.expected(id, Range.all());
    for (int batch : new int[] {0, 1, 2, 50}) {
      for (int limit : new int[] {1, 2, 5, 299, expected.size(), expected.size() + 10}) {
        assertEquals(
            expected.subList(0, Math.min(limit, expected.size())),
            all(client.scanner("limited").batchCells(batch).limit(limit).open()),
            batch + " " + limit);
      }
    }
    Scanner scanner = client.scanner("limited").batchCells(10).open();
    java.util.Iterator<Cell> cells = scanner.iterator();
    for (int i = 0; i < 100; i++) {
      assertEquals(expected.get(i), cells.next());
    }
    assertThrows(IllegalStateException.class, scanner::iterator);
    scanner.close();
    scanner.close();
    assertThrows(IllegalStateException.class, cells::hasNext);
    assertEquals(300, all(client.scanner("limited").columns(Column.of("f", "q0")).open()).size());
    assertEquals(expected, all(client.scanner("limited").isolateRows(false).batchCells(2).open()));
  }

  @Test
  void rowLargerThanAnAnswerIsLookedUpWhole() throws Exception {
    String id = cluster.createTable("wide", List.of());
    Mutation mutation = Mutation.of("wide");
    for (int i = 0; i < 500; i++) {
      mutation.put(F, Bytes.of("q" + i), Bytes.EMPTY, 1L, Bytes.of("v"));
    }
    cluster.load(id, mutation);
    cluster.batchCells = 7;
    assertEquals(cluster.expected(id, Range.row("wide")), client.lookup("wide", "wide").cells());
    assertEquals(
        500, client.lookupAsync("wide", Bytes.of("wide")).get(20, TimeUnit.SECONDS).cells().size());
  }

  // ---- Batch writers

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
    try (SteleClient quick = connect(Duration.ofSeconds(2), Duration.ofMillis(500))) {
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
}
