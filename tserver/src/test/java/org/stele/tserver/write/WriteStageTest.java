package org.stele.tserver.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.Durability;
import org.stele.core.data.Mutation;
import org.stele.core.data.Update;
import org.stele.core.data.WriterStamp;
import org.stele.core.error.ErrorCode;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.time.ManualClock;
import org.stele.tserver.tablet.TabletExtent;
import org.stele.tserver.tablet.TabletFixture;
import org.stele.tserver.wal.LogRecord;

class WriteStageTest {
  private final ManualClock clock = new ManualClock();

  private static Mutation put(String row, int bytes) {
    return Mutation.of(Bytes.of(row))
        .put(Bytes.of("f"), Bytes.of("q"), Bytes.wrap(new byte[bytes]));
  }

  private static List<ErrorCode> codes(List<WriteFailure> failures) {
    return failures.stream().map(failure -> failure.error().code()).toList();
  }

  private static List<Integer> indexes(List<WriteFailure> failures) {
    return failures.stream().map(WriteFailure::index).toList();
  }

  @Test
  void oneBadMutationFailsAlone() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.extent = new TabletExtent(TabletFixture.TABLE, null, Bytes.of("m"));
    TabletFixture fixture = new TabletFixture(options);
    try {
      Mutation reserved =
          Mutation.of("b")
              .add(
                  new Update(
                      CellType.DELETE_CELL,
                      Bytes.EMPTY,
                      Bytes.EMPTY,
                      Bytes.EMPTY,
                      null,
                      Bytes.EMPTY));
      List<WriteFailure> failures =
          fixture
              .write(put("a", 1), reserved, put("z", 1), Mutation.of("c"), put("m", 1))
              .get(10, TimeUnit.SECONDS);
      assertEquals(List.of(1, 2, 3), indexes(failures));
      assertEquals(
          List.of(ErrorCode.BAD_REQUEST, ErrorCode.NOT_SERVING, ErrorCode.BAD_REQUEST),
          codes(failures));
      assertEquals(
          List.of(Bytes.of("a"), Bytes.of("m")),
          fixture.scanAll().stream().map(cell -> cell.row()).toList());
    } finally {
      fixture.close();
    }
  }

  @Test
  void atomicBatchIsDoneWholeOrNotAtAll() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.extent = new TabletExtent(TabletFixture.TABLE, null, Bytes.of("m"));
    TabletFixture fixture = new TabletFixture(options);
    try {
      fixture.addTablet("tablet2", new TabletExtent(TabletFixture.TABLE, Bytes.of("m"), null));
      assertEquals(List.of(0, 1), indexes(atomic(fixture, put("a", 1), Mutation.of("b"))));
      assertEquals(List.of(0, 1), indexes(atomic(fixture, put("a", 1), put("n", 1))));
      assertEquals(List.of(), fixture.scanAll());
      assertEquals(List.of(), atomic(fixture, put("a", 1), put("b", 1)));
      assertEquals(2, fixture.scanAll().size());
      assertEquals(List.of(), fixture.write(put("n", 1), put("c", 1)).get(10, TimeUnit.SECONDS));
      assertEquals(4, fixture.scanAll().size(), "a batch that is not atomic has several tablets");
    } finally {
      fixture.close();
    }
  }

  private static List<WriteFailure> atomic(TabletFixture fixture, Mutation... mutations)
      throws Exception {
    CompletableFuture<List<WriteFailure>> done = new CompletableFuture<>();
    long deadline = fixture.clock.nanos() + TimeUnit.SECONDS.toNanos(10);
    fixture.writes.write(
        new WriteBatch(
            TabletFixture.TABLE, List.of(mutations), null, deadline, true, WriterStamp.NONE),
        done::complete);
    return done.get(10, TimeUnit.SECONDS);
  }

  @Test
  void theLogSaysWhichWriteOfWhichWriterItWas() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    WriterStamp stamp = new WriterStamp(0x7777, 12, 9);
    try {
      CompletableFuture<List<WriteFailure>> done = new CompletableFuture<>();
      long deadline = fixture.clock.nanos() + TimeUnit.SECONDS.toNanos(10);
      fixture.writes.write(
          new WriteBatch(TabletFixture.TABLE, List.of(put("a", 1)), null, deadline, false, stamp),
          done::complete);
      assertEquals(List.of(), done.get(10, TimeUnit.SECONDS));
      fixture.writeNow(put("b", 1));
      assertEquals(
          List.of(stamp, WriterStamp.NONE),
          fixture.logged().stream().map(LogRecord::writer).toList());
    } finally {
      fixture.close();
    }
  }

  @Test
  void fullMemoryHasWritesWaitUntilTheirDeadline() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = clock;
    options.memoryBytes = 1 << 20;
    options.writeLimits = new WriteLimits(8, 1 << 20);
    TabletFixture fixture = new TabletFixture(options);
    try {
      int rows = 0;
      while (fixture.memory.used() < (1 << 20) - 40_000) {
        fixture.writeNow(put("row" + rows++, 20_000));
        clock.advance(Duration.ofSeconds(10)); // near the limit each needs its time
      }
      List<CompletableFuture<List<WriteFailure>>> waiting = new ArrayList<>();
      for (int i = 0; fixture.writes.waiting() < 8; i++) {
        waiting.add(write(fixture, Duration.ofSeconds(i % 2 == 0 ? 1 : 100), "more" + i));
      }
      long used = fixture.memory.used();
      List<WriteFailure> tooMany =
          write(fixture, Duration.ofSeconds(100), "toomany").get(10, TimeUnit.SECONDS);
      assertEquals(List.of(ErrorCode.BUSY), codes(tooMany));
      assertTrue(tooMany.get(0).error().retryAfterMillis() > 0);
      assertTrue(used <= (1 << 20) + 20_200, used + " bytes are used");

      Awaitility.await().until(() -> fixture.log.waitingBytes() == 0);
      clock.advance(Duration.ofSeconds(2));
      Awaitility.await().until(() -> fixture.writes.waiting() <= 4);
      long busy = 0;
      for (CompletableFuture<List<WriteFailure>> each : waiting) {
        if (each.isDone() && !each.get().isEmpty()) {
          assertEquals(List.of(ErrorCode.BUSY), codes(each.get()));
          busy++;
        }
      }
      assertTrue(busy >= 3, busy + " were refused at their deadline");

      fixture.flush();
      Awaitility.await().until(() -> waiting.stream().allMatch(CompletableFuture::isDone));
      assertEquals(0, fixture.writes.waiting());
      assertEquals(List.of(), fixture.write(put("last", 10)).get(10, TimeUnit.SECONDS));
    } finally {
      fixture.close();
    }
  }

  /** A row travels once with all its updates; in keys it is once for each. */
  @Test
  void keysAreEncodedWhenThereIsMemoryForThem() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.memoryBytes = 1 << 20;
    options.writeLimits = new WriteLimits(8, 256 << 20);
    options.logQueueBytes = 256 << 20;
    TabletFixture fixture = new TabletFixture(options);
    try {
      while (fixture.memory.used() < 1 << 20) {
        fixture.memory.reserve(64 << 10);
      }
      long reserved = fixture.memory.used();
      Mutation wide = Mutation.of(Bytes.wrap(new byte[64 << 10]));
      for (int i = 0; i < 256; i++) {
        wide.put("f", "q" + i, "");
      }
      com.sun.management.ThreadMXBean thread =
          (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
      long before = thread.getCurrentThreadAllocatedBytes();
      CompletableFuture<List<WriteFailure>> done = fixture.write(wide);
      long allocated = thread.getCurrentThreadAllocatedBytes() - before;
      assertEquals(1, fixture.writes.waiting());
      assertTrue(allocated < 1 << 20, allocated + " bytes were allocated without being reserved");

      fixture.memory.release(reserved);
      assertEquals(List.of(), done.get(30, TimeUnit.SECONDS));
      assertEquals(fixture.memory.used(), fixture.tablet.memtableBytes());
      assertEquals(256, fixture.scanAll().size());
    } finally {
      fixture.close();
    }
  }

  private static CompletableFuture<List<WriteFailure>> write(
      TabletFixture fixture, Duration time, String row) {
    return fixture.write(null, fixture.clock.nanos() + time.toNanos(), put(row, 20_000));
  }

  /** Writers are faster than the disk of the flushes: all get through, and memory stays bounded. */
  @Test
  void writersAreSlowedToTheRateOfTheFlushes() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.memoryBytes = 1 << 20;
    options.memtableBytes = 256 << 10;
    options.threads = 1;
    options.setting("table.durability", "none");
    TabletFixture fixture = new TabletFixture(options);
    try {
      List<CompletableFuture<List<WriteFailure>>> all = new ArrayList<>();
      long most = 0;
      for (int i = 0; i < 1500; i++) {
        all.add(fixture.write(put("row" + i, 10_000)));
        most = Math.max(most, fixture.memory.used());
      }
      int busy = 0;
      for (CompletableFuture<List<WriteFailure>> each : all) {
        List<WriteFailure> failures = each.get(60, TimeUnit.SECONDS);
        if (!failures.isEmpty()) {
          assertEquals(List.of(ErrorCode.BUSY), codes(failures));
          busy++;
        }
      }
      assertTrue(most <= (1 << 20) + 11_000, most + " bytes were used");
      assertEquals(all.size() - busy, fixture.scanAll().size());
    } finally {
      fixture.close();
    }
  }

  @Test
  void scarceMemorySlowsWritesBeforeItIsFull() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = clock;
    options.memoryBytes = 1 << 20;
    TabletFixture fixture = new TabletFixture(options);
    try {
      for (int i = 0; fixture.memory.used() < fixture.memory.pressure(); i++) {
        fixture.writeNow(put("row" + i, 20_000)); // at full speed: no time passes
      }
      CompletableFuture<List<WriteFailure>> second =
          write(fixture, Duration.ofSeconds(100), "second");
      assertEquals(1, fixture.writes.waiting());
      clock.advance(Duration.ofSeconds(1));
      assertEquals(List.of(), second.get(10, TimeUnit.SECONDS));

      CompletableFuture<List<WriteFailure>> last = second;
      for (int i = 0; fixture.writes.waiting() == 0; i++) {
        last = write(fixture, Duration.ofSeconds(100), "more" + i);
      }
      assertTrue(fixture.memory.used() < (1 << 20) * 9 / 10, "there is room yet");
      fixture.flush();
      assertEquals(List.of(), last.get(10, TimeUnit.SECONDS), "at once, when a flush has ended");
    } finally {
      fixture.close();
    }
  }

  @Test
  void aTabletWithFarTooManyFilesSlowsItsOwnWrites() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = clock;
    options.extent = new TabletExtent(TabletFixture.TABLE, null, Bytes.of("m"));
    options.setting("table.files.max", "2");
    TabletFixture fixture = new TabletFixture(options);
    try {
      fixture.addTablet("tablet2", new TabletExtent(TabletFixture.TABLE, Bytes.of("m"), null));
      for (int file = 0; file < 8; file++) {
        fixture.writeNow(put("a" + file, 1));
        fixture.flush();
        clock.advance(Duration.ofSeconds(1));
      }
      CompletableFuture<List<WriteFailure>> busy = write(fixture, Duration.ofSeconds(1), "b");
      CompletableFuture<List<WriteFailure>> waiting = write(fixture, Duration.ofSeconds(100), "c");
      assertEquals(2, fixture.writes.waiting());
      fixture.writeNow(put("n", 1)); // of the other tablet
      clock.advance(Duration.ofSeconds(2));
      assertEquals(List.of(ErrorCode.BUSY), codes(busy.get(10, TimeUnit.SECONDS)));
      assertTrue(busy.get().get(0).error().getMessage().contains("too many files"));
      assertEquals(1, fixture.writes.waiting());
      fixture.compact(true);
      assertEquals(List.of(), waiting.get(10, TimeUnit.SECONDS));
    } finally {
      fixture.close();
    }
  }

  @Test
  void noCallerIsAnsweredUnderTheLockOfThoseThatWait() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.memoryBytes = 1 << 20;
    TabletFixture fixture = new TabletFixture(options);
    try {
      fixture.memory.reserve(1 << 20);
      CompletableFuture<Boolean> othersGoOn = new CompletableFuture<>();
      long deadline = fixture.clock.nanos() + TimeUnit.SECONDS.toNanos(100);
      fixture.writes.write(
          new WriteBatch(
              TabletFixture.TABLE, List.of(put("a", 10)), null, deadline, false, WriterStamp.NONE),
          failures -> othersGoOn.complete(canLetRoomAppear(fixture)));
      CompletableFuture<List<WriteFailure>> second =
          write(fixture, Duration.ofSeconds(100), "second");
      assertEquals(2, fixture.writes.waiting());
      fixture.log.close();
      fixture.memory.release(1 << 20);
      assertTrue(othersGoOn.get(30, TimeUnit.SECONDS), "another thread needed the lock");
      assertEquals(List.of(ErrorCode.UNAVAILABLE), codes(second.get(10, TimeUnit.SECONDS)));
    } finally {
      fixture.close();
    }
  }

  private static boolean canLetRoomAppear(TabletFixture fixture) {
    fixture.memory.reserve(1);
    Thread other = new Thread(() -> fixture.memory.release(1), "other");
    other.start();
    try {
      other.join(2000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !other.isAlive();
  }

  @Test
  void fullLogHasWritesWaitToo() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.logQueueBytes = 64 << 10;
    TabletFixture fixture = new TabletFixture(options);
    try {
      CrashableFileStore.Hold sync = fixture.store.holdAt(Operation.SYNC, ".wal", 1);
      List<CompletableFuture<List<WriteFailure>>> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        all.add(fixture.write(put("row" + i, 10_000)));
      }
      sync.awaitReached();
      assertTrue(fixture.writes.waiting() > 0);
      assertFalse(all.get(19).isDone());
      sync.release();
      for (CompletableFuture<List<WriteFailure>> each : all) {
        assertEquals(List.of(), each.get(30, TimeUnit.SECONDS));
      }
      assertEquals(20, fixture.scanAll().size());
    } finally {
      fixture.close();
    }
  }

  @Test
  void lateWriteIsNotPlaced() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = clock;
    TabletFixture fixture = new TabletFixture(options);
    try {
      assertEquals(
          List.of(ErrorCode.DEADLINE_EXCEEDED),
          codes(fixture.write(null, clock.nanos(), put("a", 1)).get(10, TimeUnit.SECONDS)));
      assertEquals(List.of(), fixture.scanAll());
      assertEquals(0, fixture.memory.used());
    } finally {
      fixture.close();
    }
  }

  @Test
  void failedSyncIsAnUnknownOutcomeAndNeverVisible() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    TabletFixture fixture = new TabletFixture(options);
    try {
      fixture.store.failAt(Operation.SYNC, ".wal", 1, new IOException("the disk is gone"));
      assertEquals(
          List.of(ErrorCode.UNKNOWN_OUTCOME),
          codes(fixture.write(put("a", 1)).get(10, TimeUnit.SECONDS)));
      assertEquals(List.of(), fixture.scanAll());
      assertEquals(0, fixture.memory.used());
      fixture.writeNow(put("b", 1));
      assertEquals(1, fixture.scanAll().size());
      fixture.flush();
      assertEquals(fixture.tablet.publishedSequence(), fixture.catalog.flushedSequence());
    } finally {
      fixture.close();
    }
  }

  @Test
  void durabilityOfTheRequestGoesBeforeThatOfTheTable() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.setting("table.durability", "none");
    TabletFixture fixture = new TabletFixture(options);
    fixture.writeNow(put("none", 1));
    long deadline = fixture.clock.nanos() + TimeUnit.SECONDS.toNanos(10);
    assertEquals(
        List.of(),
        fixture.write(Durability.SYNC, deadline, put("sync", 1)).get(10, TimeUnit.SECONDS));
    assertEquals(2, fixture.scanAll().size());
    fixture = fixture.crash();
    try {
      assertEquals(
          List.of(Bytes.of("sync")), fixture.scanAll().stream().map(cell -> cell.row()).toList());
    } finally {
      fixture.close();
    }
  }
}
