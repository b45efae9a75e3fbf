package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.core.error.SteleException;
import org.stele.test.check.Conditions;
import org.stele.test.process.StandaloneServer;

/**
 * A mutation is visible whole or not at all: all columns of a row that is written by many at once
 * are of one mutation, for lookups and for scans whose batches are smaller than the row, during
 * flushes, compactions, changes of the log, and after {@code kill -9}. Who has written reads what
 * he has written, or newer.
 */
class RowAtomicityIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final String TABLE = "rows";
  private static final int COLUMNS = 50;
  private static final int SHARED_ROWS = 4;
  private static final int WRITERS = 16;
  private static final int READERS = LONG ? 16 : 6;
  private static final int WRITES_PER_ROUND = LONG ? 100_000 : 1_500;
  private static final int ROUNDS = LONG ? 10 : 2;
  private static final Duration LIMIT = Duration.ofMinutes(LONG ? 20 : 2);

  /** Everything happens all the time. */
  private static final Map<String, String> SETTINGS =
      Map.of("wal.size", "256K", "memtable.tablet.bytes", "128K", "files.grace", "0s");

  @TempDir private Path directory;

  /** The last number that each writer wrote to its own row and had acknowledged. */
  private final AtomicIntegerArray ownNumbers = new AtomicIntegerArray(WRITERS);

  private final AtomicLong writes = new AtomicLong();
  private final AtomicLong reads = new AtomicLong();
  private final List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
  private volatile boolean ended;

  /** The server is being killed: whatever fails now may. */
  private volatile boolean killing;

  @Test
  void everyReadIsOfOneMutation() throws Exception {
    try (StandaloneServer server = StandaloneServer.started(directory.resolve("data"), SETTINGS)) {
      try (SteleClient client = server.client()) {
        client
            .tables()
            .create(
                TABLE,
                TableOptions.defaults()
                    .withSplits(List.of(Bytes.of("shared 2"), Bytes.of("writer 08")))
                    .with("table.file.block.bytes", "1K"));
      }
      for (int round = 0; round < ROUNDS; round++) {
        runUntilKilled(server);
        server.startDirectly();
        try (SteleClient client = server.client()) {
          assertWholeAndNotOlder(client);
        }
      }
    }
  }

  private void runUntilKilled(StandaloneServer server) throws Exception {
    ended = false;
    killing = false;
    List<Thread> threads = new ArrayList<>();
    try (SteleClient client =
        SteleClient.connect(
            server.zookeeper(), ClientOptions.defaults().withDeadline(Duration.ofSeconds(30)))) {
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        threads.add(thread("writer-" + i, () -> writeOnce(client, writer)));
      }
      for (int i = 0; i < READERS; i++) {
        boolean looksUp = i % 2 == 0;
        int batchCells = i % 4 == 1 ? 7 : 0;
        threads.add(thread("reader-" + i, () -> readOnce(client, looksUp, batchCells)));
      }
      threads.add(thread("maintenance", () -> maintain(client)));
      long until = writes.get() + WRITES_PER_ROUND;
      Conditions.await(
          "enough was written", LIMIT, () -> writes.get() > until || !faults.isEmpty());
      killing = true;
      server.kill9();
      ended = true;
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), faults);
    assertTrue(reads.get() > 100, () -> "only " + reads + " reads prove nothing");
  }

  private interface Action {
    void run() throws Exception;
  }

  private Thread thread(String name, Action action) {
    Thread thread =
        new Thread(
            () -> {
              while (!ended) {
                try {
                  action.run();
                } catch (SteleException | IllegalStateException e) {
                  if (!killing) {
                    faults.add(e);
                  }
                } catch (Exception | Error e) {
                  faults.add(e);
                }
              }
            },
            name);
    thread.start();
    return thread;
  }

  private void writeOnce(SteleClient client, int writer) {
    int shared = ThreadLocalRandom.current().nextInt(SHARED_ROWS);
    client.write(TABLE, mutation("shared " + shared, ThreadLocalRandom.current().nextInt()));
    int number = ownNumbers.get(writer) + 1;
    client.write(TABLE, mutation(ownRow(writer), number));
    ownNumbers.set(writer, number);
    int seen = numberOf(client.lookup(TABLE, ownRow(writer)).cells(), ownRow(writer));
    assertEquals(number, seen, "the writer's next read sees what was acknowledged");
    writes.addAndGet(2);
  }

  private static String ownRow(int writer) {
    return String.format("writer %02d", writer);
  }

  private static Mutation mutation(String row, int number) {
    Mutation mutation = Mutation.of(row);
    for (int column = 0; column < COLUMNS; column++) {
      mutation.put("f" + column % 3, "q" + column, Integer.toString(number));
    }
    return mutation;
  }

  private void readOnce(SteleClient client, boolean looksUp, int batchCells) {
    if (looksUp) {
      String row = "shared " + new Random().nextInt(SHARED_ROWS);
      Row found = client.lookup(TABLE, row);
      if (!found.isEmpty()) {
        numberOf(found.cells(), row);
      }
    } else {
      scan(client, batchCells);
    }
    reads.incrementAndGet();
  }

  private static Map<String, Integer> scan(SteleClient client, int batchCells) {
    Map<String, List<Cell>> rows = new HashMap<>();
    try (Scanner scanner = client.scanner(TABLE).batchCells(batchCells).open()) {
      for (Cell cell : scanner) {
        rows.computeIfAbsent(cell.row().toUtf8(), row -> new ArrayList<>()).add(cell);
      }
    }
    Map<String, Integer> numbers = new HashMap<>();
    rows.forEach((row, cells) -> numbers.put(row, numberOf(cells, row)));
    return numbers;
  }

  /** The one number that all columns of a row have. */
  private static int numberOf(List<Cell> cells, String row) {
    assertEquals(COLUMNS, cells.size(), () -> "columns of row " + row);
    Bytes first = cells.get(0).value();
    for (Cell cell : cells) {
      assertEquals(first, cell.value(), () -> "a part of another mutation in row " + row);
    }
    return Integer.parseInt(first.toUtf8());
  }

  private static void maintain(SteleClient client) {
    client.tables().flush(TABLE);
    if (new Random().nextInt(4) == 0) {
      client.tables().compact(TABLE);
    }
  }

  private void assertWholeAndNotOlder(SteleClient client) {
    for (int batchCells : new int[] {0, 7}) {
      Map<String, Integer> numbers = scan(client, batchCells);
      for (int writer = 0; writer < WRITERS; writer++) {
        Integer found = numbers.get(ownRow(writer));
        assertNotNull(found, ownRow(writer));
        int acknowledged = ownNumbers.get(writer);
        int last = found;
        assertTrue(
            last == acknowledged || last == acknowledged + 1,
            () -> acknowledged + " was acknowledged, " + last + " is there");
      }
    }
    // One that was under way when the server was killed may be there.
    for (int writer = 0; writer < WRITERS; writer++) {
      ownNumbers.set(
          writer, numberOf(client.lookup(TABLE, ownRow(writer)).cells(), ownRow(writer)));
    }
  }
}
