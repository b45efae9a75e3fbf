package org.stele.tserver.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.tserver.wal.LogTesting.DIRECTORY;
import static org.stele.tserver.wal.LogTesting.expected;
import static org.stele.tserver.wal.LogTesting.options;
import static org.stele.tserver.wal.LogTesting.recover;
import static org.stele.tserver.wal.LogTesting.salts;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Durability;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.time.Clock;
import org.stele.tserver.wal.TestTablet.Outcome;
import org.stele.tserver.wal.TestTablet.TestEntry;

/**
 * Random schedules of writes, rolls, flushes, failing disks and crashes, each from a seed, against
 * a ledger of what was acknowledged. The disk is looked at between any two of its operations: after
 * a crash of the machine it has what was synced and parts of the rest, after the end of the process
 * all that was written.
 */
class LogCrashTest {
  private static final List<Durability> DURABILITIES = List.of(Durability.values());
  private static final int SCHEDULES = Boolean.getBoolean("stele.long") ? 200_000 : 3_000;

  @Test
  void whatWasAcknowledgedIsThereAfterACrash() throws IOException {
    long start = new Random().nextLong();
    int checks = 0;
    for (int i = 0; i < SCHEDULES; i++) {
      checks += runSchedule(start + i);
    }
    assertTrue(checks > SCHEDULES, "only " + checks + " looks at the disk");
  }

  private static int runSchedule(long seed) throws IOException {
    Schedule schedule = new Schedule(seed);
    try {
      schedule.run();
    } catch (AssertionError | RuntimeException | IOException e) {
      throw new AssertionError("with seed " + seed + "L: " + e, e);
    }
    return schedule.looks;
  }

  private static final class Schedule {
    private final Random random;
    private final CrashableFileStore store = LogTesting.newStore();
    private final List<TestTablet> tablets = new ArrayList<>();
    private final List<TestEntry> entries = new ArrayList<>();
    private final List<CompletableFuture<Void>> rolls = new ArrayList<>();
    private final long[] flushed = new long[3];
    private final GroupCommitLog log;
    private final boolean failing;
    private final boolean onlySync;
    private boolean fileFailed;
    private boolean looking;
    private @Nullable Throwable failure;
    int looks;

    Schedule(long seed) throws IOException {
      random = new Random(seed);
      failing = random.nextInt(3) == 0;
      onlySync = random.nextBoolean();
      for (int i = 0; i < 3; i++) {
        tablets.add(new TestTablet("t" + i, 1 + i));
      }
      log =
          GroupCommitLog.withoutThreads(
              store, options(500 + random.nextInt(3000)), Clock.system(), salts(), broken -> {});
      store.onEachCall(this::beforeOperation);
    }

    private void beforeOperation(Operation operation, String path) throws IOException {
      if (looking) {
        return;
      }
      try {
        if (operation == Operation.DELETE) {
          look(path); // as if it was just deleted
        } else if (random.nextInt(12) == 0) {
          look("");
        }
      } catch (AssertionError | RuntimeException | IOException e) {
        failure = failure == null ? e : failure; // the log takes it for a failure of the disk
      }
      if (failing && random.nextInt(25) == 0) {
        fileFailed = true;
        throw new IOException("the disk says no");
      }
    }

    void run() throws IOException {
      int steps = 5 + random.nextInt(60);
      for (int step = 0; step < steps; step++) {
        switch (random.nextInt(10)) {
          case 0, 1, 2, 3 -> append();
          case 4, 5 -> log.syncStep();
          case 6, 7 -> log.applyStep();
          case 8 -> flush();
          default -> {
            if (random.nextInt(3) == 0) {
              rolls.add(log.requestRoll());
            }
          }
        }
      }
      look("");
      if (random.nextBoolean()) {
        log.syncStep();
        log.applyStep();
        look("");
      }
      if (random.nextBoolean()) {
        try {
          log.close();
        } catch (IOException e) {
          assertTrue(failing, "close failed for no reason");
        }
        look("");
        entries.forEach(entry -> assertEquals(1, entry.times, "told once"));
        assertTrue(rolls.stream().allMatch(CompletableFuture::isDone));
        assertEquals(0, log.waitingBytes());
        store.assertNoOpenHandles();
      }
      if (failure != null) {
        throw new AssertionError(failure);
      }
    }

    private void append() {
      Durability durability = onlySync ? Durability.SYNC : DURABILITIES.get(random.nextInt(4));
      String[] values = new String[1 + random.nextInt(3)];
      for (int i = 0; i < values.length; i++) {
        values[i] = entries.size() + "/" + i + "x".repeat(random.nextInt(100));
      }
      TestEntry entry = tablets.get(random.nextInt(3)).entry(durability, values);
      entries.add(entry);
      assertTrue(log.append(entry));
    }

    /** All that is applied is in sorted files from now on. */
    private void flush() {
      int tablet = random.nextInt(3);
      flushed[tablet] = tablets.get(tablet).published;
      log.flushed(tablets.get(tablet).id, flushed[tablet]);
    }

    /** Crashes the machine or the process as of now, and looks at what recovery makes of it. */
    private void look(String deleted) throws IOException {
      looking = true;
      looks++;
      boolean kill = random.nextBoolean();
      CrashableFileStore disk = kill ? LogTesting.killed(store) : LogTesting.crashed(store, random);
      if (!deleted.isEmpty()) {
        disk.delete(deleted);
      }
      LogDirectory directory = LogDirectory.read(disk, DIRECTORY);
      assertEquals(List.of(), directory.damage(), "false alarm");
      for (int i = 0; i < 3; i++) {
        List<String> found = recover(directory, tablets.get(i).id, flushed[i]);
        check(i, found, kill);
        if (random.nextInt(4) == 0) {
          directory.writeIndexes();
          assertEquals(
              found, recover(LogDirectory.read(disk, DIRECTORY), tablets.get(i).id, flushed[i]));
        }
      }
      disk.assertNoOpenHandles();
      looking = false;
    }

    /** What is acknowledged as synced has all before it on the disk as well. */
    private static long lastSynced(TestTablet tablet) {
      long last = 0;
      for (TestEntry entry : tablet.applied) {
        last = entry.durability == Durability.SYNC ? entry.first : last;
      }
      return last;
    }

    private void check(int tablet, List<String> found, boolean kill) {
      Set<String> there = new HashSet<>(found);
      assertEquals(there.size(), found.size(), "a record came back twice");
      List<TestEntry> known = new ArrayList<>();
      long lastSynced = lastSynced(tablets.get(tablet));
      for (TestEntry entry : entries) {
        if (entry.tablet != tablets.get(tablet)) {
          continue;
        }
        List<String> values = expected(List.of(entry));
        boolean needed =
            entry.outcome == Outcome.COMMITTED
                && Long.compareUnsigned(entry.lastSequence(), flushed[tablet]) > 0;
        boolean kept =
            entry.durability == Durability.SYNC
                || (!fileFailed
                    && entry.durability != Durability.NONE
                    && (kill || Long.compareUnsigned(entry.first, lastSynced) < 0));
        if (needed && kept) {
          assertTrue(there.containsAll(values), "lost " + values);
        }
        boolean never =
            entry.outcome == Outcome.REFUSED
                || entry.durability == Durability.NONE
                || (entry.outcome == Outcome.FAILED && log.broken().isEmpty());
        if (never) {
          assertTrue(values.stream().noneMatch(there::contains), "came back: " + values);
        }
        if (entry.first != 0 && there.containsAll(values)) {
          known.add(entry);
        }
      }
      // Whole records only, none that was not written, in order.
      known.sort((x, y) -> Long.compareUnsigned(x.first, y.first));
      assertEquals(expected(known), found);
    }
  }
}
