package org.stele.tserver.wal;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.tserver.wal.LogTesting.DIRECTORY;
import static org.stele.tserver.wal.LogTesting.expected;
import static org.stele.tserver.wal.LogTesting.options;
import static org.stele.tserver.wal.LogTesting.path;
import static org.stele.tserver.wal.LogTesting.recover;
import static org.stele.tserver.wal.LogTesting.run;
import static org.stele.tserver.wal.LogTesting.salts;
import static org.stele.tserver.wal.LogTesting.stepped;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Durability;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.time.Clock;
import org.stele.tserver.wal.TestTablet.Outcome;
import org.stele.tserver.wal.TestTablet.TestEntry;

/** Order, durability, bounds, failures and closing of the log. */
class GroupCommitLogTest {
  private static final List<Durability> DURABILITIES = List.of(Durability.values());
  private static final long LARGE = 1 << 20;

  private final CrashableFileStore store = LogTesting.newStore();
  private final TestTablet a = new TestTablet("a", 1);
  private final TestTablet b = new TestTablet("b", 1);
  private final AtomicReference<Exception> broken = new AtomicReference<>();

  private GroupCommitLog started(long fileBytes) throws IOException {
    return GroupCommitLog.start(store, options(fileBytes), Clock.system(), salts(), broken::set);
  }

  private static ErrorCode codeOf(TestEntry entry) {
    return ((SteleException) entry.cause).code();
  }

  @Test
  void aGroupIsWrittenAndSyncedOnceAtItsStrictest() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    List<Operation> operations = new ArrayList<>();
    store.onEachCall((operation, path) -> operations.add(operation));
    List<TestEntry> entries = new ArrayList<>();
    for (Durability durability : Durability.values()) {
      entries.add(a.entry(durability, "1", "2"));
      entries.add(b.entry(durability, "3"));
    }
    entries.forEach(log::append);
    assertTrue(log.syncStep());
    assertEquals(List.of(Operation.WRITE, Operation.SYNC), operations);
    assertEquals(Outcome.NONE, entries.get(0).outcome);
    assertTrue(log.applyStep());
    entries.forEach(entry -> assertEquals(Outcome.COMMITTED, entry.outcome));
    assertEquals(0, log.waitingBytes());

    operations.clear();
    log.append(a.entry(Durability.FLUSH, "5"));
    run(log);
    assertEquals(List.of(Operation.WRITE, Operation.FLUSH), operations);
    operations.clear();
    log.append(a.entry(Durability.LOG, "5"));
    run(log);
    assertEquals(List.of(Operation.WRITE), operations);
    operations.clear();
    TestEntry unlogged = a.entry(Durability.NONE, "5");
    log.append(unlogged);
    run(log);
    assertEquals(List.of(), operations);
    assertEquals(Outcome.COMMITTED, unlogged.outcome);

    List<TestEntry> logged = new ArrayList<>(a.applied);
    logged.removeIf(entry -> entry.durability == Durability.NONE);
    assertEquals(expected(logged), recover(LogTesting.killed(store), "a"));
    assertEquals(2, log.metrics().syncs() - 0);
  }

  @Test
  void entriesAreCommittedInTheOrderOfTheLog() throws Exception {
    GroupCommitLog log = started(20_000);
    List<Thread> writers = new ArrayList<>();
    TestTablet[] tablets = {a, b, new TestTablet("c", 2)};
    for (int w = 0; w < 8; w++) {
      int writer = w;
      writers.add(
          new Thread(
              () -> {
                for (int i = 0; i < 300; i++) {
                  Durability durability = DURABILITIES.get((i + writer) % 4);
                  TestEntry entry =
                      tablets[(i + writer) % 3].entry(durability, writer + " " + i, "x");
                  while (!log.append(entry)) {
                    Thread.onSpinWait();
                  }
                }
              },
              "writer-" + w));
    }
    writers.forEach(Thread::start);
    for (Thread writer : writers) {
      writer.join();
    }
    log.close();
    for (TestTablet tablet : tablets) {
      assertEquals(800, tablet.applied.size());
      long last = 0;
      for (TestEntry entry : tablet.applied) {
        assertTrue(Long.compareUnsigned(last, entry.first) < 0);
        last = entry.lastSequence();
      }
      List<TestEntry> logged = new ArrayList<>(tablet.applied);
      logged.removeIf(entry -> entry.durability == Durability.NONE);
      assertEquals(expected(logged), recover(store, tablet.id));
    }
    assertEquals(0, log.waitingBytes());
    assertEquals("wal-apply", a.applied.get(0).thread);
    assertTrue(log.files().size() > 3, "no log was rolled by size");
    assertEquals(2400, log.metrics().committed());
  }

  @Test
  void entriesThatCannotBePlacedOrEncodedAreLeftOut() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    TestEntry good = a.entry(Durability.SYNC, "good");
    TestEntry poisoned = a.entry(Durability.SYNC, "bad");
    poisoned.poisoned = true;
    TestEntry closed = b.entry(Durability.SYNC, "closed");
    b.takesWrites = false;
    TestEntry last = a.entry(Durability.SYNC, "last");
    List.of(good, poisoned, closed, last).forEach(log::append);
    run(log);
    assertEquals(Outcome.REFUSED, poisoned.outcome);
    assertEquals(ErrorCode.INTERNAL, codeOf(poisoned));
    assertEquals(Outcome.NOT_PLACED, closed.outcome);
    assertEquals(Outcome.COMMITTED, last.outcome);
    assertEquals(
        List.of(good, poisoned, last),
        a.told,
        "each in its place: no sequence may be passed before those below it are settled");
    assertEquals(expected(List.of(good, last)), recover(LogTesting.killed(store), "a"));
    assertEquals(0, log.waitingBytes());
  }

  @Test
  void waitingBytesAreBoundedButOneEntryAlwaysFits() throws IOException {
    GroupCommitLog log =
        GroupCommitLog.withoutThreads(
            store, options(DIRECTORY, LARGE, 1000), Clock.system(), salts(), broken::set);
    TestEntry huge = a.entry(Durability.SYNC, "x".repeat(5000));
    assertTrue(log.append(huge));
    TestEntry small = a.entry(Durability.SYNC, "x");
    assertFalse(log.append(small));
    assertEquals(1, log.metrics().full());
    run(log);
    assertEquals(0, log.waitingBytes());
    assertTrue(log.append(small));
    run(log);
    assertEquals(expected(List.of(huge, small)), recover(LogTesting.killed(store), "a"));
  }

  @Test
  void largeEntriesWork() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    TestEntry large = a.entry(Durability.SYNC, "v".repeat(16 << 20), "w".repeat(16 << 20));
    TestEntry small = b.entry(Durability.SYNC, "small");
    log.append(large);
    log.append(small);
    run(log);
    CrashableFileStore killed = LogTesting.killed(store);
    assertEquals(expected(List.of(large)), recover(killed, "a"));
    assertEquals(expected(List.of(small)), recover(killed, "b"));
  }

  @Test
  void aFailedSyncEndsTheFileAndOnlyItsGroup() throws IOException {
    for (Operation failing : List.of(Operation.SYNC, Operation.WRITE)) {
      CrashableFileStore disk = LogTesting.newStore();
      TestTablet tablet = new TestTablet("a", 1);
      GroupCommitLog log = stepped(disk, LARGE);
      TestEntry before = tablet.entry(Durability.SYNC, "before");
      log.append(before);
      run(log);
      List<String> touched = new ArrayList<>();
      boolean[] failed = {false};
      disk.onEachCall(
          (operation, path) -> {
            if (failed[0] && operation != Operation.CLOSE) {
              touched.add(path);
            } else if (operation == failing && !failed[0]) {
              failed[0] = true;
              throw new IOException("the disk says no");
            }
          });
      TestEntry one = tablet.entry(Durability.SYNC, "one");
      TestEntry two = tablet.entry(Durability.NONE, "two");
      log.append(one);
      log.append(two);
      log.syncStep();
      TestEntry after = tablet.entry(Durability.SYNC, "after");
      log.append(after);
      run(log);
      assertEquals(Outcome.FAILED, one.outcome);
      assertEquals(Outcome.FAILED, two.outcome);
      assertEquals(ErrorCode.UNKNOWN_OUTCOME, codeOf(one));
      assertEquals(Outcome.COMMITTED, after.outcome);
      assertEquals(Set.of(path(2)), new HashSet<>(touched), "the failed file was touched again");
      assertEquals(expected(List.of(before, after)), recover(LogTesting.killed(disk), "a"));
      assertEquals(1, log.metrics().failedFiles());

      log.flushed("a", after.lastSequence());
      run(log);
      assertEquals(1, log.files().size());
    }
  }

  @Test
  void aHeaderThatCannotBeSyncedIsTriedOnceMore() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    TestEntry before = a.entry(Durability.SYNC, "before");
    log.append(before);
    run(log);
    boolean[] failed = {false};
    store.onEachCall(
        (operation, path) -> {
          if (operation == Operation.SYNC && !failed[0]) {
            failed[0] = true;
            throw new IOException("the disk says no");
          }
        });
    assertFalse(log.requestRoll().isDone());
    run(log);
    TestEntry after = a.entry(Durability.SYNC, "after");
    log.append(after);
    run(log);
    assertEquals(Outcome.COMMITTED, after.outcome);
    assertFalse(store.exists(path(2)));
    assertEquals(expected(List.of(before, after)), recover(LogTesting.killed(store), "a"));
  }

  @Test
  void theLogBreaksWhenTheNextFileFailsToo() throws IOException {
    GroupCommitLog log =
        GroupCommitLog.withoutThreads(store, options(LARGE), Clock.system(), salts(), broken::set);
    store.onEachCall(
        (operation, path) -> {
          if (operation == Operation.SYNC) {
            throw new IOException("the disk says no");
          }
        });
    TestEntry one = a.entry(Durability.SYNC, "one");
    log.append(one);
    log.syncStep();
    TestEntry two = a.entry(Durability.SYNC, "two");
    assertTrue(log.append(two));
    run(log);
    assertEquals(Outcome.FAILED, one.outcome);
    assertEquals(Outcome.REFUSED, two.outcome);
    assertEquals(ErrorCode.UNAVAILABLE, codeOf(two));
    assertTrue(log.broken().isPresent());
    assertEquals(broken.get(), log.broken().get());
    store.onEachCall((operation, path) -> {});
    TestEntry three = a.entry(Durability.NONE, "three");
    assertTrue(log.append(three));
    assertEquals(Outcome.REFUSED, three.outcome);
    assertThrows(IOException.class, log::roll);
    log.close();
    assertEquals(List.of(), recover(LogTesting.crashed(store, new java.util.Random(1)), "b"));
  }

  @Test
  void entriesThatCannotBeAppliedBreakTheLog() throws IOException {
    GroupCommitLog log = stepped(store, LARGE);
    List<String> told = new ArrayList<>();
    TestEntry first = a.entry(Durability.SYNC, "first");
    LogEntry bad =
        new ForwardingEntry(a.entry(Durability.SYNC, "bad")) {
          @Override
          public void committed() {
            throw new IllegalStateException("no memory");
          }

          @Override
          public void failed(Exception cause) {
            told.add("failed");
          }
        };
    TestEntry last = a.entry(Durability.SYNC, "last");
    List.of(first, bad, last).forEach(log::append);
    run(log);
    assertEquals(Outcome.COMMITTED, first.outcome);
    assertEquals(List.of("failed"), told);
    assertEquals(Outcome.FAILED, last.outcome);
    assertTrue(log.broken().isPresent());
  }

  /** Passes all on. */
  private static class ForwardingEntry implements LogEntry {
    private final LogEntry entry;

    ForwardingEntry(LogEntry entry) {
      this.entry = entry;
    }

    @Override
    public int sizeHint() {
      return entry.sizeHint();
    }

    @Override
    public Durability durability() {
      return entry.durability();
    }

    @Override
    public boolean place() {
      return entry.place();
    }

    @Override
    public long epoch() {
      return entry.epoch();
    }

    @Override
    public String tabletId() {
      return entry.tabletId();
    }

    @Override
    public long firstSequence() {
      return entry.firstSequence();
    }

    @Override
    public long lastSequence() {
      return entry.lastSequence();
    }

    @Override
    public void encode(org.stele.core.data.ByteWriter out) {
      entry.encode(out);
    }

    @Override
    public void committed() {
      entry.committed();
    }

    @Override
    public void failed(Exception cause) {
      entry.failed(cause);
    }
  }

  @Test
  void sixtyFourWritersSurviveFailingSyncs() throws Exception {
    AtomicInteger count = new AtomicInteger();
    store.onEachCall(
        (operation, path) -> {
          if ((operation == Operation.SYNC || operation == Operation.WRITE)
              && count.incrementAndGet() % 31 == 0) {
            throw new IOException("the disk says no");
          }
        });
    List<TestEntry> all = new ArrayList<>();
    try (GroupCommitLog log = started(100_000)) {
      List<Thread> writers = new ArrayList<>();
      for (int w = 0; w < 64; w++) {
        int writer = w;
        writers.add(
            new Thread(
                () -> {
                  for (int i = 0; i < 40; i++) {
                    TestEntry entry =
                        (writer % 2 == 0 ? a : b).entry(Durability.SYNC, writer + " " + i);
                    synchronized (all) {
                      all.add(entry);
                    }
                    log.append(entry);
                    try {
                      entry.await();
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    }
                  }
                },
                "writer-" + w));
      }
      writers.forEach(Thread::start);
      for (Thread writer : writers) {
        writer.join();
      }
      assertTrue(log.metrics().failedFiles() > 0);
      assertTrue(log.broken().isEmpty());
      // Kill: what was acknowledged is there, and nothing that had failed.
      CrashableFileStore killed = LogTesting.killed(store);
      assertEquals(expected(a.applied), recover(killed, "a"));
      assertEquals(expected(b.applied), recover(killed, "b"));
      store.onEachCall((operation, path) -> {});
    }
    assertTrue(all.stream().allMatch(entry -> entry.times == 1));
    assertTrue(all.stream().anyMatch(entry -> entry.outcome == Outcome.FAILED));
    assertEquals(
        a.applied.size() + b.applied.size(),
        all.stream().filter(entry -> entry.outcome == Outcome.COMMITTED).count());
  }

  @Test
  void theNextGroupFillsWhileTheLastIsSynced() throws Exception {
    try (GroupCommitLog log = started(LARGE)) {
      CountDownLatch inSync = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      AtomicInteger syncs = new AtomicInteger();
      store.onEachCall(
          (operation, path) -> {
            if (operation == Operation.SYNC && syncs.incrementAndGet() == 1) {
              inSync.countDown();
              awaitLatch(release);
            }
          });
      TestEntry first = a.entry(Durability.SYNC, "first");
      log.append(first);
      inSync.await();
      int threads = Thread.activeCount();
      List<TestEntry> group = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        group.add(a.entry(i % 2 == 0 ? Durability.SYNC : Durability.NONE, "more"));
        assertTrue(log.append(group.get(i)));
      }
      assertEquals(Outcome.NONE, first.outcome);
      assertTrue(log.waitingBytes() > 0);
      assertTrue(Thread.activeCount() <= threads);
      release.countDown();
      assertEquals(Outcome.COMMITTED, group.get(999).await());
      assertEquals(2, syncs.get());
    }
  }

  private static void awaitLatch(CountDownLatch latch) throws IOException {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  void closingAtFullLoadTellsEveryone() throws Exception {
    GroupCommitLog log = started(50_000);
    List<List<TestEntry>> entries = new ArrayList<>();
    List<Thread> writers = new ArrayList<>();
    CountDownLatch running = new CountDownLatch(16);
    for (int w = 0; w < 16; w++) {
      List<TestEntry> own = new ArrayList<>();
      entries.add(own);
      writers.add(
          new Thread(
              () -> {
                while (own.isEmpty() || own.get(own.size() - 1).outcome != Outcome.REFUSED) {
                  TestEntry entry = a.entry(Durability.SYNC, "value");
                  if (log.append(entry)) {
                    own.add(entry);
                  }
                  if (own.size() == 200) {
                    running.countDown();
                  }
                }
              },
              "writer-" + w));
    }
    writers.forEach(Thread::start);
    running.await();
    log.close();
    log.close();
    for (Thread writer : writers) {
      writer.join();
    }
    for (List<TestEntry> own : entries) {
      for (TestEntry entry : own) {
        entry.await();
        assertEquals(1, entry.times);
      }
    }
    assertEquals(0, log.waitingBytes());
    assertEquals(expected(a.applied), recover(store, "a"));
    assertTrue(LogDirectory.read(store, DIRECTORY).logs().stream().allMatch(l -> l.complete()));
  }

  @Test
  void closingDoesNotWaitForEverForTheDisk() throws Exception {
    GroupCommitLog log =
        GroupCommitLog.start(
            store,
            new GroupCommitLog.Options(
                DIRECTORY, "instance", "s1", "", LARGE, LARGE, Duration.ofMillis(50)),
            Clock.system(),
            salts(),
            broken::set);
    CountDownLatch inSync = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    store.onEachCall(
        (operation, path) -> {
          if (operation == Operation.SYNC) {
            inSync.countDown();
            awaitLatch(release);
          }
        });
    TestEntry stuck = a.entry(Durability.SYNC, "stuck");
    log.append(stuck);
    inSync.await();
    TestEntry waiting = a.entry(Durability.SYNC, "waiting");
    log.append(waiting);
    assertThrows(IOException.class, log::close);
    assertEquals(Outcome.FAILED, stuck.await());
    assertEquals(ErrorCode.UNKNOWN_OUTCOME, codeOf(stuck));
    assertEquals(Outcome.REFUSED, waiting.await());
    TestEntry late = a.entry(Durability.SYNC, "late");
    log.append(late);
    assertEquals(Outcome.REFUSED, late.outcome);
    release.countDown();
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("wal-")));
    assertEquals(1, stuck.times);
    assertEquals(List.of(), a.applied);
  }

  @Test
  void rollReturnsWhenTheNextFileIsThere() throws Exception {
    try (GroupCommitLog log = started(LARGE)) {
      log.roll();
      assertEquals(1, log.files().size(), "an empty file is kept");
      a.entry(Durability.SYNC, "x");
      TestEntry entry = a.entry(Durability.SYNC, "one");
      log.append(entry);
      entry.await();
      log.roll();
      assertEquals(2, log.files().size());
      assertEquals(Set.of("a"), log.files().get(0).tablets());
      assertEquals(Set.of(), log.files().get(1).tablets());
      log.flushed("a", entry.lastSequence());
      await().until(() -> !store.exists(path(1)));
    }
  }

  @Test
  void aDirectoryWithLogsIsRefused() throws IOException {
    store.setContents(path(1), new byte[0]);
    assertThrows(IOException.class, () -> started(LARGE));
  }
}
