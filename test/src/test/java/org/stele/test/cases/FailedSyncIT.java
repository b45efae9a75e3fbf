package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.test.check.AckLedger;
import org.stele.test.check.AckLedger.Outcome;
import org.stele.test.check.Conditions;

/**
 * A sync or write of the log that fails, or never returns: no write of its group is acknowledged,
 * none waits past its deadline, a sync is not tried again until it works, and after a power cut all
 * that was acknowledged is there. The log is rolled all the time.
 */
class FailedSyncIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final int WRITERS = 64;
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** Beyond a deadline, on a machine that has other things to do. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Map<String, String> SETTINGS = Map.of("wal.size", "64K");

  @TempDir private Path directory;

  private final long seed = Long.getLong("stele.seed", new Random().nextLong());
  private final Random random = new Random(seed);

  /** Of the instance of the moment. */
  private AckLedger ledger = new AckLedger();

  private final AtomicInteger next = new AtomicInteger();

  @Test
  void aSyncThatFailsOnceFailsItsGroup() throws Exception {
    for (int round = 0; round < (LONG ? 20 : 2); round++) {
      oneFailure(round, Operation.SYNC);
    }
  }

  @Test
  void aWriteThatFailsOnceFailsItsGroup() throws Exception {
    for (int round = 0; round < (LONG ? 20 : 1); round++) {
      oneFailure(round, Operation.WRITE);
    }
  }

  private void oneFailure(int round, Operation operation) throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = instance(operation + "-" + round, store)) {
      try (SteleClient client = instance.client(DEADLINE);
          LedgerWriters writers = new LedgerWriters(client, ledger, next, WRITERS, 100)) {
        awaitAcks(writers, 200);
        int failing = 1 + random.nextInt(20);
        store.failAt(operation, "/data/", failing, new IOException("input/output error"));
        int acked = writers.acked();
        Conditions.await(
            "the failure is met and writes go on",
            LIMIT,
            () -> instance.hasBroken() || writers.acked() > acked + 100 * WRITERS);
        assertEnds(writers);
      }
      assertAllThereAfterPowerCuts(instance);
    }
  }

  @Test
  void syncsThatFailNowAndThenLoseNothing() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    AtomicInteger syncs = new AtomicInteger();
    try (CrashableInstance instance = instance("every-tenth", store)) {
      for (int round = 0; round < (LONG ? 20 : 2); round++) {
        try (SteleClient client = instance.client(DEADLINE);
            LedgerWriters writers = new LedgerWriters(client, ledger, next, WRITERS, 100)) {
          awaitAcks(writers, 50);
          store.onEachCall(
              (operation, path) -> {
                if (operation == Operation.SYNC
                    && path.contains("/data/")
                    && syncs.incrementAndGet() % 10 == 0) {
                  throw new IOException("input/output error");
                }
              });
          int before = syncs.get();
          Conditions.await(
              "many syncs were tried",
              LIMIT,
              () -> instance.hasBroken() || syncs.get() > before + 100);
          assertEnds(writers);
          store.onEachCall((operation, path) -> {});
        }
        assertAllThereAfterPowerCuts(instance);
      }
    }
  }

  @Test
  void aSyncThatNeverReturnsHoldsUpNoReaderAndNoWriterForLong() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = instance("held", store);
        SteleClient client = instance.client(Duration.ofSeconds(2))) {
      client.write(LedgerWriters.TABLE, Mutation.of("read me").put("f", "q", "v"));
      CrashableFileStore.Hold hold;
      try (LedgerWriters writers = new LedgerWriters(client, ledger, next, WRITERS, 100)) {
        awaitAcks(writers, 200);
        int threads = Thread.activeCount();
        hold = store.holdAt(Operation.SYNC, "/data/", 1);
        hold.awaitReached();
        long unacknowledged = ledger.count(Outcome.UNKNOWN) + ledger.count(Outcome.FAILED);
        Conditions.await(
            "every writer was told that its time is over",
            LIMIT,
            () -> {
              assertEquals("v", client.lookup(LedgerWriters.TABLE, "read me").get("f", "q"));
              long now = ledger.count(Outcome.UNKNOWN) + ledger.count(Outcome.FAILED);
              return now >= unacknowledged + 2 * WRITERS;
            });
        assertTrue(
            Thread.activeCount() <= threads + 10,
            () -> threads + " threads have become " + Thread.activeCount());
        assertEnds(writers);
      } finally {
        store.heal();
      }
      hold.fail(new IOException("input/output error"));
      assertAllThereAfterPowerCuts(instance);
    }
  }

  private CrashableInstance instance(String name, CrashableFileStore store) throws Exception {
    ledger = new AckLedger();
    CrashableInstance instance =
        new CrashableInstance(directory.resolve(name), store, SETTINGS).start();
    try (SteleClient client = instance.client()) {
      client
          .tables()
          .create(
              LedgerWriters.TABLE,
              TableOptions.defaults()
                  .withSplits(List.of(Bytes.of("4"), Bytes.of("8"), Bytes.of("c"))));
    }
    return instance;
  }

  private static void awaitAcks(LedgerWriters writers, int count) {
    Conditions.await("writes are acknowledged", LIMIT, () -> writers.acked() >= count);
  }

  private void assertEnds(LedgerWriters writers) {
    writers.end();
    assertTrue(
        writers.longest().compareTo(DEADLINE.plus(GRACE)) < 0,
        () -> "a write took " + writers.longest() + ", seed " + seed);
  }

  /** What is of unknown outcome must not change any more either. */
  private void assertAllThereAfterPowerCuts(CrashableInstance instance) throws Exception {
    for (int cut = 0; cut < 2; cut++) {
      instance.cutPower(random.nextLong());
      instance.start();
      try (SteleClient client = instance.client()) {
        assertEquals(List.of(), LedgerWriters.check(client, ledger), () -> "seed " + seed);
      }
      assertFalse(instance.hasBroken());
    }
  }
}
