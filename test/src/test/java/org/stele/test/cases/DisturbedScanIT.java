package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.net.Proxy;
import org.stele.test.net.Proxy.Disturbance;
import org.stele.test.process.Installation;
import org.stele.test.process.Serving;
import org.stele.test.process.StandaloneServer;

/**
 * Many scans at once, with batches of one cell to many, while answers are lost and late, tablets
 * are flushed and compacted, and the server is killed and started: each gives exactly the rows of
 * its range, in order, none twice and none missing.
 */
class DisturbedScanIT {
  private static final String TABLE = "disturbed";
  private static final int ROWS = TestForm.count(8_000, 1_000_000);
  private static final int TABLETS = TestForm.count(10, 40);
  private static final int SCANNERS = TestForm.count(6, 20);
  private static final int SCANS = TestForm.count(40, 120);
  private static final int RESTARTS = TestForm.count(1, 6);
  private static final int[] BATCH_CELLS = {1, 7, 1000, 0};
  private static final Duration LIMIT =
      TestForm.time(Duration.ofMinutes(2), Duration.ofMinutes(40));

  /** Of one operation; a compaction of the long form takes a minute beside everything else. */
  private static final Duration DEADLINE =
      TestForm.time(Duration.ofMinutes(1), Duration.ofMinutes(10));

  /** One row in so many is larger than an answer of the server. */
  private static final int LARGE_EVERY = 500;

  private static final int LARGE_COLUMNS = 60;
  private static final String FILLER = "x".repeat(100);

  @TempDir private Path directory;

  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger done = new AtomicInteger();
  private final AtomicLong cuts = new AtomicLong();
  private final List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
  private volatile boolean ended;

  @Test
  void everyScanGivesItsRowsOnce() throws Exception {
    // Clients, and the server's own, are told the address of the proxy.
    InetAddress advertised = InetAddress.getByName("127.0.0.2");
    try (Proxy proxy = new Proxy(advertised, new InetSocketAddress("127.0.0.1", 0));
        StandaloneServer server =
            new StandaloneServer(
                Installation.shared(),
                directory.resolve("data"),
                Map.of(
                    "rpc.port",
                    Integer.toString(proxy.port()),
                    "rpc.advertise.address",
                    "127.0.0.2",
                    "scan.batch.bytes",
                    "4K",
                    "files.grace",
                    "0s"))) {
      proxy.target(new InetSocketAddress("127.0.0.1", proxy.port()));
      server.start().orFail();
      server.setting("zookeeper.port", server.zookeeper().replaceAll(".*:(\\d+).*", "$1"));
      ClientOptions options = Serving.current().clientOptions().withDeadline(DEADLINE);
      try (SteleClient client = SteleClient.connect(server.zookeeper(), options);
          SteleClient maintainer = SteleClient.connect(server.zookeeper(), options)) {
        load(client);
        proxy.disturb(this::disturb);
        scanAndRestart(server, client, maintainer);
        proxy.disturb(() -> 0);
      }
    }
    assertEquals(List.of(), faults);
    assertTrue(cuts.get() > 20, () -> "only " + cuts + " connections were cut");
  }

  private long disturb() {
    int chance = ThreadLocalRandom.current().nextInt(1000);
    if (chance < 3) {
      cuts.incrementAndGet();
      return Disturbance.CUT;
    }
    return chance < 10 ? 50 : 0;
  }

  private static String row(int number) {
    return String.format("%07d", number);
  }

  private static int columns(int number) {
    return number % LARGE_EVERY == 3 ? LARGE_COLUMNS : 1;
  }

  private static void load(SteleClient client) {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < TABLETS; i++) {
      splits.add(Bytes.of(row(i * ROWS / TABLETS)));
    }
    client.tables().create(TABLE, TableOptions.defaults().withSplits(splits));
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      for (int i = 0; i < ROWS; i++) {
        Mutation mutation = Mutation.of(row(i));
        for (int column = 0; column < columns(i); column++) {
          mutation.put("f", String.format("q%02d", column), i + FILLER);
        }
        writer.add(mutation);
        if (i == ROWS / 2) {
          writer.flush();
          client.tables().flush(TABLE);
        }
      }
    }
  }

  /**
   * @param maintainer has connections of its own: with so much going over one connection, it is cut
   *     before the server can have compacted the whole table.
   */
  private void scanAndRestart(StandaloneServer server, SteleClient client, SteleClient maintainer)
      throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < SCANNERS; i++) {
      threads.add(thread("scanner-" + i, () -> scanOnce(client)));
    }
    threads.add(thread("maintenance", () -> maintainer.tables().compact(TABLE)));
    for (int restart = 1; restart <= RESTARTS; restart++) {
      awaitDone(restart * SCANS / (RESTARTS + 1));
      server.restartAfterKill();
    }
    awaitDone(SCANS);
    ended = true;
    for (Thread thread : threads) {
      thread.join(LIMIT.toMillis());
      assertTrue(!thread.isAlive(), () -> thread.getName() + " hangs");
    }
  }

  private void awaitDone(int count) {
    Conditions.await(
        count + " scans are done", LIMIT, () -> done.get() >= count || !faults.isEmpty());
  }

  private Thread thread(String name, Runnable action) {
    Thread thread =
        new Thread(
            () -> {
              while (!ended && faults.isEmpty()) {
                action.run();
              }
            },
            name);
    thread.setUncaughtExceptionHandler((dead, e) -> faults.add(e));
    thread.start();
    return thread;
  }

  /** The whole table, or, with very small batches, a part of it that spans tablets. */
  private void scanOnce(SteleClient client) {
    int batchCells = BATCH_CELLS[begun.getAndIncrement() % BATCH_CELLS.length];
    int count = batchCells == 1 ? ROWS / 20 : ROWS;
    int first = batchCells == 1 ? new Random().nextInt(ROWS - count) : 0;
    Range range = batchCells == 1 ? Range.rows(row(first), row(first + count)) : Range.all();
    int number = first;
    int column = 0;
    try (Scanner scanner = client.scanner(TABLE).range(range).batchCells(batchCells).open()) {
      for (Cell cell : scanner) {
        String expected = row(number) + String.format(" q%02d", column);
        String what = "batches of " + batchCells;
        assertEquals(expected, cell.row() + " " + cell.qualifier(), what);
        assertEquals(number + FILLER, cell.value().toUtf8(), what);
        column++;
        if (column == columns(number)) {
          number++;
          column = 0;
        }
      }
    }
    assertEquals(first + count, number, "rows of a scan with batches of " + batchCells);
    assertEquals(0, column);
    done.incrementAndGet();
  }
}
