package org.stele.tserver.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.time.ManualClock;
import org.stele.tserver.tablet.TabletFixture;
import org.stele.tserver.tablet.TabletState;
import org.stele.tserver.wal.WriteAheadLog.LogFile;
import org.stele.tserver.write.WriteFailure;

/** Flushes that fail, that are held up, and that a crash interrupts. */
class FlusherTest {
  private final ManualClock clock = new ManualClock();

  private TabletFixture fixture(boolean manualClock) throws IOException {
    TabletFixture.Options options = new TabletFixture.Options();
    if (manualClock) {
      options.clock = clock;
    }
    options.logFileBytes = 64 << 10;
    return new TabletFixture(options);
  }

  private static Mutation mutation(int row) {
    return Mutation.of("row" + row).put("f", "q", "value" + row);
  }

  private static Set<String> rows(TabletFixture fixture) {
    Set<String> rows = new HashSet<>();
    fixture.scanAll().forEach(cell -> rows.add(cell.row().toUtf8()));
    return rows;
  }

  private static boolean logsHoldTheTablet(TabletFixture fixture) {
    return fixture.log.files().stream()
        .map(LogFile::tablets)
        .anyMatch(ids -> ids.contains("tablet1"));
  }

  @Test
  void logIsReleasedAfterTheCommitAndNeverBefore() throws Exception {
    TabletFixture fixture = fixture(false);
    try {
      fixture.writeNow(mutation(1));
      fixture.log.roll();
      fixture.writeNow(mutation(2));
      String oldest = fixture.log.files().get(0).path();
      fixture.catalog.hold();
      CompletableFuture<Void> flushed = fixture.flusher.flushSoon(fixture.tablet);
      CompletableFuture<Boolean> run = CompletableFuture.supplyAsync(fixture.flusher::runOnce);
      fixture.catalog.awaitHeld();
      fixture.log.roll();
      fixture.writeNow(mutation(3));
      fixture.log.roll();
      assertTrue(
          fixture.store.exists(oldest), "the file is not yet in metadata: the log is needed");
      assertTrue(logsHoldTheTablet(fixture));
      fixture.catalog.release();
      assertTrue(run.get());
      flushed.get();
      Awaitility.await().until(() -> !fixture.store.exists(oldest));
      assertTrue(logsHoldTheTablet(fixture), "row 3 was written after the flush began");
      assertEquals(Set.of("row1", "row2", "row3"), rows(fixture));
    } finally {
      fixture.close();
    }
  }

  @Test
  void crashDuringAHeldCommitLosesNothing() throws Exception {
    TabletFixture fixture = fixture(false);
    fixture.writeNow(mutation(1));
    fixture.catalog.hold();
    fixture.flusher.request(fixture.tablet);
    TabletFixture first = fixture;
    CompletableFuture<Boolean> run = CompletableFuture.supplyAsync(first.flusher::runOnce);
    fixture.catalog.awaitHeld();
    fixture.writeNow(mutation(2));
    fixture.catalog.failBefore(1);
    fixture.store.crash();
    fixture.catalog.release();
    assertTrue(run.get());
    fixture = fixture.crash();
    try {
      assertEquals(Set.of("row1", "row2"), rows(fixture));
    } finally {
      fixture.close();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Operation.class,
      names = {"CREATE", "WRITE", "SYNC", "CLOSE", "MAKE_DIRECTORY", "OPEN"})
  void failureOfTheFileIsToldAndRepeated(Operation operation) throws Exception {
    TabletFixture fixture = fixture(true);
    try {
      fixture.writeNow(mutation(1));
      fixture.store.failAt(operation, "tables/", 1, new IOException("no space left"));
      CompletableFuture<Void> done = fixture.flusher.flushSoon(fixture.tablet);
      assertTrue(fixture.flusher.runOnce());
      assertFalse(done.isDone());
      String reason = fixture.tablet.failure();
      assertNotNull(reason);
      assertTrue(reason.contains("no space left"), reason);
      assertEquals(Set.of("row1"), rows(fixture), "reads go on");
      fixture.writeNow(mutation(2));
      assertFalse(fixture.flusher.runOnce(), "it is repeated after a time, not at once");
      clock.advance(Duration.ofSeconds(1));
      while (!done.isDone()) {
        assertTrue(fixture.flusher.runOnce());
      }
      done.get();
      assertNull(fixture.tablet.failure());
      assertEquals(Set.of("row1", "row2"), rows(fixture));
    } finally {
      fixture.close();
    }
  }

  @ParameterizedTest
  @EnumSource(Answer.class)
  void failedCommitIsRepeatedWithTheSameFile(Answer answer) throws Exception {
    TabletFixture fixture = fixture(true);
    try {
      fixture.writeNow(mutation(1));
      if (answer == Answer.REFUSED) {
        fixture.catalog.failBefore(2);
      } else {
        fixture.catalog.failAfter(2);
      }
      CompletableFuture<Void> done = fixture.flusher.flushSoon(fixture.tablet);
      while (!done.isDone()) {
        assertTrue(fixture.flusher.runOnce());
        clock.advance(Duration.ofSeconds(40));
      }
      done.get();
      assertEquals(1, fixture.store.list("tables/t1").size(), "one file was written");
      assertEquals(1, fixture.catalog.files().size());
      assertEquals(Set.of("row1"), rows(fixture));
    } finally {
      fixture.close();
    }
  }

  private enum Answer {
    REFUSED,
    LOST
  }

  @Test
  void tabletThatBelongsToAnotherStops() throws Exception {
    TabletFixture fixture = fixture(true);
    try {
      fixture.writeNow(mutation(1));
      fixture.catalog.lose();
      CompletableFuture<Void> done = fixture.flusher.flushSoon(fixture.tablet);
      assertTrue(fixture.flusher.runOnce());
      CompletionException failure = assertThrows(CompletionException.class, done::join);
      assertEquals(ErrorCode.NOT_SERVING, ((SteleException) failure.getCause()).code());
      assertEquals(TabletState.FAILED, fixture.tablet.state());
      SteleException read =
          assertThrows(SteleException.class, () -> fixture.lookup(Bytes.of("row1")));
      assertEquals(ErrorCode.NOT_SERVING, read.code());
      assertEquals(ErrorCode.NOT_SERVING, fixture.write(mutation(2)).get().get(0).error().code());
    } finally {
      fixture.close();
    }
  }

  @Test
  void flushOfNothingStillRaisesTheFlushedSequence() throws Exception {
    TabletFixture fixture = fixture(true);
    try {
      fixture.reopen();
      long opened = fixture.tablet.publishedSequence();
      fixture.flush();
      assertEquals(opened, fixture.catalog.flushedSequence());
      assertEquals(List.of(), fixture.catalog.files());
      long changes = fixture.tablet.counters().flushes().sum();
      fixture.flush();
      assertEquals(changes, fixture.tablet.counters().flushes().sum(), "nothing to say twice");
    } finally {
      fixture.close();
    }
  }

  /** A write that is placed but not yet synced when the memtable is frozen is not in the file. */
  @Test
  void placedWriteIsNotCountedAsFlushed() throws Exception {
    TabletFixture fixture = fixture(false);
    fixture.writeNow(mutation(1));
    CrashableFileStore.Hold sync = fixture.store.holdAt(Operation.SYNC, ".wal", 1);
    CompletableFuture<List<WriteFailure>> second = fixture.write(mutation(2));
    sync.awaitReached();
    fixture.flush();
    sync.release();
    assertEquals(List.of(), second.get());
    fixture = fixture.crash();
    try {
      assertEquals(Set.of("row1", "row2"), rows(fixture));
    } finally {
      fixture.close();
    }
  }

  /** Writers go on while the tablet is flushed; then the machine stops. */
  @Test
  void nothingInFlightCountsAsFlushed() throws Exception {
    for (int round = 0; round < 5; round++) {
      TabletFixture fixture = fixture(false);
      Set<String> acknowledged = crashUnderLoad(fixture);
      TabletFixture recovered = fixture.crash();
      try {
        Set<String> found = rows(recovered);
        acknowledged.removeAll(found);
        assertEquals(Set.of(), acknowledged, "acknowledged and lost");
      } finally {
        recovered.close();
      }
    }
  }

  private static Set<String> crashUnderLoad(TabletFixture fixture) throws Exception {
    ConcurrentLinkedQueue<String> acknowledged = new ConcurrentLinkedQueue<>();
    AtomicBoolean crashed = new AtomicBoolean();
    List<Thread> writers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int writer = i;
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; !crashed.get() && n < 3000; n++) {
                  int row = writer * 10_000 + n;
                  boolean done = fixture.write(mutation(row)).join().isEmpty();
                  if (done && !crashed.get()) {
                    acknowledged.add("row" + row);
                  }
                }
              },
              "writer-" + i);
      thread.start();
      writers.add(thread);
    }
    for (int flush = 0; flush < 10; flush++) {
      int least = acknowledged.size() + 50;
      Awaitility.await()
          .until(() -> acknowledged.size() >= least || writers.stream().noneMatch(Thread::isAlive));
      fixture.flush();
    }
    crashed.set(true);
    fixture.stopMachine();
    for (Thread writer : writers) {
      writer.join();
    }
    return new HashSet<>(acknowledged);
  }
}
