package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.RawSocket;
import org.stele.test.process.Commands;
import org.stele.test.process.StandaloneServer;

/**
 * Scans of which the first row is read and no more: closed, dropped, closed while the next batch is
 * fetched, asked for over connections that are reset. The server keeps nothing of them: memory,
 * descriptors and threads are as before, and files that were compacted away meanwhile are deleted.
 */
class AbandonedScanIT {
  private static final String TABLE = "abandoned";
  private static final int ROWS = 2_000;
  private static final int TABLETS = 4;
  private static final int SCANS = TestForm.count(2_000, 10_000);
  private static final int THREADS = 8;
  private static final int WORKERS = 6;

  /** The virtual machine starts and ends compilers and collectors of its own. */
  private static final int SLACK_THREADS = 10;

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long HEAP_SLACK_BYTES = 16 << 20;

  @TempDir private Path directory;

  private final List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());

  @Test
  void nothingIsLeftOfThem() throws Exception {
    try (StandaloneServer server =
            StandaloneServer.started(
                directory.resolve("data"),
                Map.of(
                    "files.grace", "0s",
                    "rpc.idle.timeout", "1s",
                    "rpc.workers", Integer.toString(WORKERS),
                    "cache.data.bytes", "8M"));
        SteleClient client = server.client()) {
      client
          .tables()
          .create(
              TABLE,
              TableOptions.defaults()
                  .withSplits(
                      List.of(Bytes.of(row(500)), Bytes.of(row(1000)), Bytes.of(row(1500)))));
      load(client, 0);
      client.tables().flush(TABLE);
      abandon(server, client, SCANS / 4);
      awaitQuiet(server);
      long heapBefore = liveHeapBytes(server.pid());
      ProcessGauges before = ProcessGauges.of(server.pid());
      List<String> threadsBefore = ProcessGauges.threadNames(server.pid());
      for (int round = 0; round < 4; round++) {
        load(client, round);
        client.tables().flush(TABLE);
        abandon(server, client, SCANS / 4);
        client.tables().compact(TABLE);
      }
      onlyCompactedFilesAreLeft(server, client);
      awaitQuiet(server);
      ProcessGauges after = ProcessGauges.of(server.pid());
      assertTrue(
          after.descriptors() <= before.descriptors() + 10,
          () -> "descriptors: " + before.descriptors() + ", then " + after.descriptors());
      assertThreads(threadsBefore, ProcessGauges.threadNames(server.pid()));
      long heapAfter = liveHeapBytes(server.pid());
      assertTrue(
          heapAfter <= heapBefore + HEAP_SLACK_BYTES,
          () -> "live heap: " + heapBefore + " bytes, then " + heapAfter);
    }
  }

  /** Workers that have nothing to do stay for a while: up to their limit they are no leak. */
  private static void assertThreads(List<String> before, List<String> after) {
    long workers = after.stream().filter(AbandonedScanIT::isWorker).count();
    assertTrue(workers <= WORKERS, () -> workers + " workers");
    long others = after.stream().filter(name -> !isWorker(name)).count();
    long othersBefore = before.stream().filter(name -> !isWorker(name)).count();
    assertTrue(
        others <= othersBefore + SLACK_THREADS, () -> "threads: " + before + ", then " + after);
  }

  private static boolean isWorker(String thread) {
    return thread.startsWith("rpc-worker-");
  }

  private static String row(int number) {
    return String.format("r%06d", number);
  }

  private static void load(SteleClient client, int round) {
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      for (int i = 0; i < ROWS; i++) {
        writer.add(Mutation.of(row(i)).put("f", "q", "value of round " + round));
      }
    }
  }

  private void abandon(StandaloneServer server, SteleClient client, int scans) throws Exception {
    int port = server.port();
    String tableId = client.tables().describe(TABLE).id();
    AtomicInteger left = new AtomicInteger(scans);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int scan = left.getAndDecrement(); scan > 0; scan = left.getAndDecrement()) {
                  abandonOne(client, port, tableId, scan);
                }
              },
              "scanner-" + i);
      thread.setUncaughtExceptionHandler((dead, e) -> faults.add(e));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join(LIMIT.toMillis());
      assertTrue(!thread.isAlive(), () -> thread.getName() + " hangs");
    }
    assertEquals(List.of(), faults);
  }

  private static void abandonOne(SteleClient client, int port, String tableId, int number) {
    switch (number % 4) {
      case 0 -> {
        try (Scanner scanner = client.scanner(TABLE).open()) {
          readFirst(scanner);
        }
      }
      case 1 -> readFirst(client.scanner(TABLE).batchCells(1).open());
      case 2 -> {
        // From the third batch on the next one is fetched ahead.
        try (Scanner scanner = client.scanner(TABLE).batchCells(10).open()) {
          Iterator<Cell> cells = readFirst(scanner);
          for (int i = 0; i < 25; i++) {
            cells.next();
          }
        }
      }
      default -> {
        try (RawSocket socket = RawSocket.connect(port)) {
          socket.sendFrame(CompactCall.scan(tableId)).reset();
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  private static Iterator<Cell> readFirst(Scanner scanner) {
    Iterator<Cell> cells = scanner.iterator();
    assertEquals(row(0), cells.next().row().toUtf8());
    return cells;
  }

  /** The connections of this test are idle and so closed; the server has a few of its own. */
  private static void awaitQuiet(StandaloneServer server) {
    int port = server.port();
    Conditions.await(
        "no connection is left in CLOSE_WAIT, and few are open",
        LIMIT,
        () ->
            ProcessGauges.connections(port, "08") == 0
                && ProcessGauges.connections(port, "01") <= 4);
  }

  private static void onlyCompactedFilesAreLeft(StandaloneServer server, SteleClient client) {
    String tableId = client.tables().describe(TABLE).id();
    Path files = server.directory().resolve("store/tables").resolve(tableId);
    Conditions.await(
        "one file for each tablet is left",
        LIMIT,
        () -> {
          try (Stream<Path> paths = Files.list(files)) {
            return paths.count() == TABLETS;
          }
        });
  }

  /** Bytes of all objects that are reachable. */
  private static long liveHeapBytes(long pid) {
    List<String> lines =
        Commands.run(
                Path.of("/"),
                Map.of(),
                new byte[0],
                Duration.ofMinutes(1),
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                    Long.toString(pid),
                    "GC.class_histogram"))
            .orFail()
            .lines();
    String total =
        lines.stream().filter(line -> line.startsWith("Total")).findFirst().orElseThrow();
    return Long.parseLong(total.trim().split("\\s+")[2]);
  }
}
