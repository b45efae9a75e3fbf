package org.stele.client;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.client.ClientFixture.all;
import static org.stele.client.ClientFixture.splits;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

  @Test
  void tenantsAreBoundedInTheBytesTheyTakeOnTheWire() {
    ClientOptions options = ClientOptions.defaults();
    assertEquals("ä".repeat(127), options.withTenant("ä".repeat(127)).tenant());
    assertThrows(IllegalArgumentException.class, () -> options.withTenant("ä".repeat(128)));
  }

  // ---- Scans

  @Test
  void failureOfAScanSaysWhereItWas() {
    SteleException e =
        assertThrows(SteleException.class, () -> all(client.scanner("nowhere").open()));
    assertTrue(
        e.getMessage().startsWith("scan of table nowhere from the first row failed"),
        e.getMessage());
    SteleException later =
        assertThrows(
            SteleException.class,
            () -> all(client.scanner("nowhere").range(Range.prefix("ad")).open()));
    assertTrue(later.getMessage().contains("from row ad failed"), later.getMessage());
  }

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
}
