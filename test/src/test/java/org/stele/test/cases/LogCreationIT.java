package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.file.FileStore;
import org.stele.test.check.AckLedger;
import org.stele.test.check.AckLedger.Outcome;
import org.stele.test.check.Conditions;

/**
 * A crash while a log is being made: files of no byte, or of a part of a header, are empty logs and
 * hold up nothing; but a log that others list and that is missing is an error. What is left over
 * goes in the end.
 */
class LogCreationIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final Map<String, String> SMALL_LOGS = Map.of("wal.size", "64K");
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** The name of a log that a crash has left behind the others. */
  private static final String NEXT_LOG = "00000002.wal";

  @TempDir private Path directory;

  private final long seed = Long.getLong("stele.seed", new Random().nextLong());
  private final Random random = new Random(seed);

  @Test
  void aCrashWhileALogIsMadeLosesNothing() throws Exception {
    AckLedger ledger = new AckLedger();
    AtomicInteger next = new AtomicInteger();
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = instance("crashes", store, SMALL_LOGS)) {
      for (int round = 0; round < (LONG ? 100 : 6); round++) {
        String what = "round " + round + ", seed " + seed;
        writeUntilOff(instance, ledger, next);
        if (random.nextBoolean()) {
          instance.cutPower(random.nextLong());
        } else {
          instance.kill();
        }
        instance.start();
        try (SteleClient client = instance.client()) {
          assertEquals(List.of(), LedgerWriters.check(client, ledger), what);
        }
      }
      assertOldSessionsGo(store);
    }
    assertTrue(ledger.count(Outcome.ACKED) > 100);
  }

  /** The machine goes off some calls after the creation of some log. */
  private void writeUntilOff(CrashableInstance instance, AckLedger ledger, AtomicInteger next)
      throws Exception {
    AtomicInteger logs = new AtomicInteger(2 + random.nextInt(3));
    AtomicInteger calls = new AtomicInteger(random.nextInt(6));
    AtomicBoolean off = new AtomicBoolean();
    try (SteleClient client = instance.client(Duration.ofSeconds(1));
        LedgerWriters writers = new LedgerWriters(client, ledger, next, 8, 2000)) {
      instance
          .store()
          .onEachCall(
              (operation, path) -> {
                boolean ofLog = path.contains("/data/") && path.endsWith(".wal");
                if (ofLog && operation == Operation.CREATE) {
                  logs.decrementAndGet();
                }
                if (ofLog && logs.get() <= 0 && calls.getAndDecrement() <= 0) {
                  off.set(true);
                }
                if (off.get()) {
                  throw new IOException("this machine is off");
                }
              });
      Conditions.await("the machine goes off", LIMIT, off::get);
      writers.end();
    }
    instance.store().onEachCall((operation, path) -> {});
  }

  /** Logs are needed until what was replayed from them is flushed, which is soon. */
  private static void assertOldSessionsGo(FileStore store) {
    Conditions.await(
        "logs of former servers are deleted", LIMIT, () -> store.list("wal").size() == 1);
  }

  @Test
  void aPartOfAHeaderIsAnEmptyLog() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = instance("parts", store, Map.of())) {
      int rows = 0;
      int[] lengths = LONG ? null : new int[] {0, 1, 8, 13, 45, -1};
      for (int i = 0; i < (lengths == null ? 150 : lengths.length); i++) {
        try (SteleClient client = instance.client()) {
          client.write(LedgerWriters.TABLE, Mutation.of(row(rows++)).put("f", "q", "v"));
        }
        String log = logs(store).get(0);
        byte[] header = header(store.contents(log));
        instance.kill();
        int length = lengths == null ? Math.min(i, header.length - 1) : lengths[i];
        byte[] part = Arrays.copyOf(header, length < 0 ? header.length + length : length);
        store.setContents(log.substring(0, log.lastIndexOf('/') + 1) + NEXT_LOG, part);
        instance.start();
        try (SteleClient client = instance.client()) {
          for (int row = 0; row < rows; row++) {
            assertEquals("v", client.lookup(LedgerWriters.TABLE, row(row)).get("f", "q"));
          }
        }
      }
      assertOldSessionsGo(store);
    }
  }

  @Test
  void aLogThatIsListedAndMissingIsLoud() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = instance("missing", store, SMALL_LOGS)) {
      try (SteleClient client = instance.client()) {
        client.tables().create("other");
        for (int i = 0; logs(store).size() < 3; i++) {
          client.write(LedgerWriters.TABLE, Mutation.of(row(i)).put("f", "q", "x".repeat(10_000)));
        }
        client.write("other", Mutation.of("r").put("f", "q", "v"));
      }
      String missing = logs(store).get(0);
      instance.kill();
      store.delete(missing);
      instance.start();
      try (SteleClient client = instance.client()) {
        SteleException refused =
            assertThrows(SteleException.class, () -> client.lookup(LedgerWriters.TABLE, row(0)));
        assertEquals(ErrorCode.CORRUPT, refused.code(), refused::getMessage);
        assertTrue(
            refused.getMessage().contains("00000001.wal"), () -> "names no file: " + refused);
        assertEquals("v", client.lookup("other", "r").get("f", "q"));
      }
    }
  }

  private static String row(int number) {
    return String.format("%x row %d", number % 16, number);
  }

  private static byte[] header(byte[] log) {
    int length = (log[10] & 0xff) << 24 | (log[11] & 0xff) << 16 | (log[12] & 0xff) << 8 | log[13];
    return Arrays.copyOf(log, length);
  }

  /** The logs of the one session there is, oldest first. */
  private static List<String> logs(FileStore store) throws IOException {
    List<String> sessions =
        store.list("wal").stream()
            .map(FileStore.Entry::name)
            .filter(name -> !name.endsWith(".fenced"))
            .toList();
    assertEquals(1, sessions.size());
    String data = "wal/" + sessions.get(0) + "/data";
    return store.list(data).stream().map(entry -> data + "/" + entry.name()).toList();
  }

  private CrashableInstance instance(
      String name, CrashableFileStore store, Map<String, String> settings) throws Exception {
    CrashableInstance instance =
        new CrashableInstance(directory.resolve(name), store, settings).start();
    try (SteleClient client = instance.client()) {
      client
          .tables()
          .create(
              LedgerWriters.TABLE,
              TableOptions.defaults().withSplits(List.of(Bytes.of("4"), Bytes.of("c"))));
    }
    return instance;
  }
}
