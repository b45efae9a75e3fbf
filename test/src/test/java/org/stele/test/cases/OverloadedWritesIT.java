package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.BatchWriterOptions;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.test.check.AckLedger;
import org.stele.test.check.AckLedger.Outcome;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.process.StandaloneServer;

/**
 * Writes that come faster than they can be flushed: the server's memory is enough, all writers wait
 * and finish, and afterwards latency is as before. A write whose time was over before it ran is not
 * done at all.
 */
class OverloadedWritesIT {
  private static final String TABLE = "overloaded";
  private static final int WRITERS = 64;
  private static final int TABLETS = TestForm.count(40, 200);
  private static final int BATCHES = TestForm.count(12, 1_000);
  private static final int TINY_PER_BATCH = 50;
  private static final int HUGE_BYTES = 1 << 20;
  private static final Duration LIMIT =
      TestForm.time(Duration.ofMinutes(2), Duration.ofMinutes(30));

  @TempDir private Path directory;

  @Test
  void aSmallHeapIsEnoughAndAllWritersFinish() throws Exception {
    try (StandaloneServer server =
            new StandaloneServer(
                    org.stele.test.process.Installation.shared(),
                    directory.resolve("data"),
                    Map.of(
                        "memtable.bytes", "16M",
                        "cache.data.bytes", "8M",
                        "cache.index.bytes", "4M",
                        "wal.queue.bytes", "8M",
                        "rpc.read.bytes", "16M",
                        "rpc.reply.bytes", "16M",
                        "rpc.queue.bytes", "8M",
                        "rpc.frame.max", "8M",
                        "files.grace", "0s"))
                .environment("STELE_SERVER_HEAP", "-Xms64m -Xmx160m");
        AutoCloseable started = startedWith(server);
        SteleClient client = server.client()) {
      assertTrue(started != null);
      client.tables().create(TABLE, tablets());
      Duration before = latency(client);
      long pid = server.pid();
      writeAll(client);
      assertEquals(pid, server.pid());
      assertTrue(ProcessHandle.of(pid).isPresent(), "the server has ended");
      Conditions.await(
          "latency is as it was before",
          Duration.ofSeconds(30),
          () -> latency(client).compareTo(before.multipliedBy(5).plusMillis(200)) < 0);
      for (int writer = 0; writer < WRITERS; writer++) {
        for (int batch = 0; batch < BATCHES; batch++) {
          String row = row(writer, batch, 0);
          assertEquals("v", client.lookup(TABLE, row).get("f", "q"), row);
        }
      }
    }
  }

  private static AutoCloseable startedWith(StandaloneServer server) {
    server.start().orFail();
    return server;
  }

  private static TableOptions tablets() {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < TABLETS; i++) {
      splits.add(Bytes.of(String.format("%04x", i * 0x10000 / TABLETS)));
    }
    return TableOptions.defaults().withSplits(splits);
  }

  /** Rows of a writer are all over the table. */
  private static String row(int writer, int batch, int number) {
    int hash = new Random(writer * 1_000_003L + batch * 1_009L + number).nextInt(0x10000);
    return String.format("%04x %d-%d-%d", hash, writer, batch, number);
  }

  private static void writeAll(SteleClient client) throws InterruptedException {
    List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      int number = i;
      Thread thread = new Thread(() -> write(client, number), "writer-" + i);
      thread.setUncaughtExceptionHandler((dead, e) -> faults.add(e));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join(LIMIT.toMillis());
      assertFalse(thread.isAlive(), () -> thread.getName() + " hangs");
    }
    assertEquals(List.of(), faults);
  }

  /** Most are tiny; now and then one is huge. */
  private static void write(SteleClient client, int number) {
    BatchWriterOptions options = BatchWriterOptions.defaults().withBufferBytes(2 << 20);
    byte[] huge = new byte[HUGE_BYTES];
    ThreadLocalRandom.current().nextBytes(huge);
    try (BatchWriter writer = client.batchWriter(TABLE, options)) {
      for (int batch = 0; batch < BATCHES; batch++) {
        for (int i = 0; i < TINY_PER_BATCH; i++) {
          writer.add(Mutation.of(row(number, batch, i)).put("f", "q", "v"));
        }
        if (batch % 4 == number % 4) {
          writer.add(
              Mutation.of(row(number, batch, -1))
                  .put(Bytes.of("f"), Bytes.of("huge"), Bytes.wrap(huge)));
        }
        writer.flush();
      }
    }
  }

  /** The longest of some single writes. */
  private static Duration latency(SteleClient client) {
    long longest = 0;
    for (int i = 0; i < 10; i++) {
      long begun = System.nanoTime();
      client.write(TABLE, Mutation.of("latency " + i).put("f", "q", "v"));
      longest = Math.max(longest, System.nanoTime() - begun);
    }
    return Duration.ofNanos(longest);
  }

  @Test
  void aWriteThatCameTooLateIsNotDone() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    AckLedger ledger = new AckLedger();
    try (CrashableInstance instance =
        new CrashableInstance(
                directory.resolve("slow"), store, Map.of("memtable.bytes", "1M", "wal.size", "1M"))
            .start()) {
      try (SteleClient client = instance.client()) {
        client
            .tables()
            .create(
                LedgerWriters.TABLE,
                TableOptions.defaults().withSplits(List.of(Bytes.of("4"), Bytes.of("a"))));
      }
      // A disk for sorted files that is slow.
      store.onEachCall(
          (operation, path) -> {
            if (operation == Operation.SYNC && path.startsWith("tables/")) {
              LockSupport.parkNanos(1_000_000_000);
            }
          });
      try (SteleClient client = instance.client(Duration.ofMillis(250));
          LedgerWriters writers =
              new LedgerWriters(client, ledger, new AtomicInteger(), WRITERS, 2_000)) {
        Conditions.await(
            "many writes come too late",
            LIMIT,
            () -> ledger.count(Outcome.FAILED) > 300 && writers.acked() > 1_000);
      }
      store.onEachCall((operation, path) -> {});
      try (SteleClient client = instance.client()) {
        assertEquals(List.of(), LedgerWriters.check(client, ledger));
      }
      instance.cutPower(1);
      instance.start();
      try (SteleClient client = instance.client()) {
        assertEquals(List.of(), LedgerWriters.check(client, ledger));
        client.write(LedgerWriters.TABLE, Mutation.of("after").put("f", "q", "v"));
      }
    }
  }
}
