package org.stele.test.durability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.test.check.AckLedger;
import org.stele.test.check.AckLedger.Outcome;
import org.stele.test.load.UnicodeFile;
import org.stele.test.process.StandaloneServer;

/**
 * No acknowledged write is lost by {@code kill -9}: real data is loaded, then the server is killed
 * at random moments while writers write, started again, and every write is compared with what its
 * writer was told.
 */
class KillDuringWritesIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final int ROUNDS = LONG ? 100 : 20;
  private static final int WRITERS = 8;
  private static final int SPLITS = 15;

  @TempDir private Path directory;

  @Test
  @Timeout(LONG_MINUTES * 60)
  void everyAcknowledgedWriteSurvives() throws Exception {
    long seed = Long.getLong("stele.seed", new Random().nextLong());
    Random random = new Random(seed);
    Path file = directory.resolve("unicode.tsv");
    int rows = UnicodeFile.write(file);
    // Small logs and memtables, so that rolls, flushes and compactions happen all the time.
    Map<String, String> settings =
        Map.of(
            "wal.size",
            "64K",
            "memtable.tablet.bytes",
            "64K",
            "memtable.bytes",
            "8M",
            "files.grace",
            "0s");
    try (StandaloneServer server =
        StandaloneServer.started(directory.resolve("data dir"), settings)) {
      List<String> splits = new ArrayList<>();
      for (int i = 1; i <= SPLITS; i++) {
        splits.add(String.format("%x", i));
      }
      Files.write(directory.resolve("splits"), splits);
      server.stele("table", "create", "unicode").orFail();
      server
          .stele("load", "unicode", file.toString(), "--format", "tsv", "--row", "codepoint")
          .orFail();
      server
          .stele(
              "table", "create", "ledger", "--splits-file", directory.resolve("splits").toString())
          .orFail();
      AckLedger ledger = new AckLedger();
      AtomicInteger next = new AtomicInteger();
      int logs = 0;
      for (int round = 0; round < ROUNDS; round++) {
        long pid = server.pid();
        int writtenBefore = next.get();
        String what = "round " + round + " of seed " + seed;
        writeUntilKilled(server, ledger, next, pid, 50 + random.nextInt(600));
        logs += logs(server.directory().resolve("store"), lastSession(server));
        if (round % 3 == 2) {
          killDuringRecovery(server, random);
        }
        long begun = System.nanoTime();
        server.startDirectly();
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertTrue(took.toSeconds() < 60, () -> what + ": the start took " + took);
        check(server, ledger, writtenBefore, what);
      }
      try (SteleClient client = server.client()) {
        assertEquals(List.of(), ledger.check(key -> lookup(client, key)), "seed " + seed);
      }
      assertTrue(
          ledger.count(Outcome.ACKED) > ROUNDS * 10L,
          () -> "too few writes to prove anything: " + next);
      assertTrue(logs > 3 * ROUNDS, "too few logs were filled to prove anything: " + logs);
      assertEquals(
          rows + " rows",
          server.stele("scan", "unicode", "--count").orFail().out().strip().replaceAll(",.*", ""));
    }
  }

  private static final int LONG_MINUTES = 20;

  private static void writeUntilKilled(
      StandaloneServer server, AckLedger ledger, AtomicInteger next, long pid, int afterMillis)
      throws Exception {
    AtomicBoolean killed = new AtomicBoolean();
    List<Thread> writers = new ArrayList<>();
    List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
    try (SteleClient client =
        SteleClient.connect(
            server.zookeeper(), ClientOptions.defaults().withDeadline(Duration.ofSeconds(1)))) {
      AtomicInteger acked = new AtomicInteger();
      for (int i = 0; i < WRITERS; i++) {
        Thread writer =
            new Thread(
                () -> {
                  while (!killed.get()) {
                    writeOne(client, ledger, next.incrementAndGet(), acked);
                  }
                },
                "writer-" + i);
        writer.setUncaughtExceptionHandler((thread, e) -> faults.add(e));
        writer.start();
        writers.add(writer);
      }
      while (acked.get() < WRITERS && faults.isEmpty()) {
        LockSupport.parkNanos(1_000_000);
      }
      LockSupport.parkNanos(afterMillis * 1_000_000L);
      StandaloneServer.kill9(pid);
      killed.set(true);
      for (Thread writer : writers) {
        writer.join();
      }
    }
    assertEquals(List.of(), faults);
  }

  private static void writeOne(
      SteleClient client, AckLedger ledger, int number, AtomicInteger acked) {
    String key = key(number);
    String value = value(number);
    ledger.sent(key, value);
    try {
      client.write("ledger", Mutation.of(key).put("f", "q", value));
      ledger.acked(key);
      acked.incrementAndGet();
    } catch (SteleException e) {
      boolean surelyNot = e.code() == ErrorCode.BUSY || e.code() == ErrorCode.DEADLINE_EXCEEDED;
      if (surelyNot) {
        ledger.failed(key);
      } else {
        ledger.unknown(key);
      }
    }
  }

  /** So large that logs are full and memtables flushed soon. */
  private static String value(int number) {
    return ("value " + number + " ").repeat(50);
  }

  /** Sessions have rising numbers. */
  private static String lastSession(StandaloneServer server) throws IOException {
    try (Stream<Path> sessions = Files.list(server.directory().resolve("store/wal"))) {
      return sessions
          .map(session -> session.getFileName().toString())
          .filter(session -> session.matches("[0-9a-f]+")) // others are notes about a session
          .max(Comparator.comparing(session -> Long.parseLong(session, 16)))
          .orElseThrow();
    }
  }

  /** The highest number of a log of the killed server: how often it went on to another log. */
  private static int logs(Path store, String session) throws IOException {
    try (Stream<Path> files = Files.list(store.resolve("wal").resolve(session).resolve("data"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".wal"))
          .mapToInt(name -> Integer.parseInt(name.substring(0, name.indexOf('.'))))
          .max()
          .orElse(0);
    }
  }

  /** Spreads consecutive numbers over all tablets. */
  private static String key(int number) {
    return String.format("%08x", Integer.reverse(number));
  }

  private static int number(String key) {
    return Integer.reverse(Integer.parseUnsignedInt(key, 16));
  }

  private static void killDuringRecovery(StandaloneServer server, Random random)
      throws IOException {
    Thread starter = new Thread(server::start, "starter");
    Path pidFile = server.directory().resolve("stele.pid");
    Files.deleteIfExists(pidFile);
    starter.start();
    while (!Files.exists(pidFile) && starter.isAlive()) {
      LockSupport.parkNanos(1_000_000);
    }
    LockSupport.parkNanos((10 + random.nextInt(1200)) * 1_000_000L);
    server.close();
    try {
      starter.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** All writes are compared with a scan, those of this round also with lookups. */
  private static void check(
      StandaloneServer server, AckLedger ledger, int writtenBefore, String what) {
    try (SteleClient client = server.client()) {
      Map<String, String> found = new HashMap<>();
      try (Scanner scanner = client.scanner("ledger").open()) {
        for (Cell cell : scanner) {
          found.put(cell.row().toUtf8(), cell.value().toUtf8());
        }
      }
      Function<String, @Nullable String> reader =
          key -> {
            String value = found.get(key);
            return number(key) > writtenBefore && !Objects.equals(value, lookup(client, key))
                ? "not what a lookup finds"
                : value;
          };
      assertEquals(List.of(), ledger.check(reader), what);
    }
  }

  private static @Nullable String lookup(SteleClient client, String key) {
    return client.lookup("ledger", key).get("f", "q");
  }
}
