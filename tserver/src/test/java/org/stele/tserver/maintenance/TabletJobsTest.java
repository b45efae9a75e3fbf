package org.stele.tserver.maintenance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.tserver.tablet.TabletFixture;

/** Tablets that leave, fail, or whose server closes, while a flush or compaction goes on. */
class TabletJobsTest {
  private TabletFixture fixture;

  /** The same is true for both kinds of work. */
  private enum Work {
    FLUSH {
      @Override
      CompletableFuture<Void> submit(TabletFixture fixture) {
        return fixture.flusher.flushSoon(fixture.tablet);
      }

      @Override
      boolean runOnce(TabletFixture fixture) {
        return fixture.flusher.runOnce();
      }

      @Override
      void forget(TabletFixture fixture) {
        fixture.flusher.forget(fixture.tablet);
      }

      @Override
      void close(TabletFixture fixture) {
        fixture.flusher.close();
      }
    },
    COMPACTION {
      @Override
      CompletableFuture<Void> submit(TabletFixture fixture) {
        return fixture.compactor.compactWhole(fixture.tablet);
      }

      @Override
      boolean runOnce(TabletFixture fixture) {
        return fixture.compactor.runOnce();
      }

      @Override
      void forget(TabletFixture fixture) {
        fixture.compactor.forget(fixture.tablet);
      }

      @Override
      void close(TabletFixture fixture) {
        fixture.compactor.close();
      }
    };

    abstract CompletableFuture<Void> submit(TabletFixture fixture);

    abstract boolean runOnce(TabletFixture fixture);

    abstract void forget(TabletFixture fixture);

    abstract void close(TabletFixture fixture);
  }

  /** There is something to flush and something to compact. */
  @BeforeEach
  void begin() throws Exception {
    fixture = new TabletFixture(new TabletFixture.Options());
    for (int row = 1; row <= 2; row++) {
      fixture.writeNow(Mutation.of("row" + row).put("f", "q", "value"));
      fixture.flush();
    }
    fixture.writeNow(Mutation.of("row3").put("f", "q", "value"));
  }

  /** Sees that no file is open any more. */
  @AfterEach
  void end() throws Exception {
    fixture.close();
  }

  private void assertServed() {
    for (int row = 1; row <= 3; row++) {
      assertEquals(1, fixture.lookup(Bytes.of("row" + row)).size());
    }
  }

  private static void assertFails(ErrorCode code, CompletableFuture<Void> done) {
    assertTrue(done.isDone());
    CompletionException failure = assertThrows(CompletionException.class, done::join);
    assertEquals(code, assertInstanceOf(SteleException.class, failure.getCause()).code());
  }

  @ParameterizedTest
  @EnumSource(Work.class)
  void aTabletMayLeaveWhileItsFileIsCommitted(Work work) throws Exception {
    fixture.catalog.hold();
    CompletableFuture<Void> done = work.submit(fixture);
    CompletableFuture<Boolean> run = CompletableFuture.supplyAsync(() -> work.runOnce(fixture));
    fixture.catalog.awaitHeld();
    work.forget(fixture);
    assertFails(ErrorCode.NOT_SERVING, done);
    fixture.catalog.release();
    assertTrue(run.get());
    assertServed();
  }

  @ParameterizedTest
  @EnumSource(Work.class)
  void aTabletMayLeaveWhileItsFileIsWritten(Work work) throws Exception {
    CrashableFileStore.Hold hold = fixture.store.holdAt(Operation.SYNC, "tables/", 1);
    CompletableFuture<Void> done = work.submit(fixture);
    CompletableFuture<Boolean> run = CompletableFuture.supplyAsync(() -> work.runOnce(fixture));
    hold.awaitReached();
    work.forget(fixture);
    assertFails(ErrorCode.NOT_SERVING, done);
    fixture.catalog.lose();
    hold.release();
    assertTrue(run.get());
  }

  @ParameterizedTest
  @EnumSource(Work.class)
  void aTabletHasOneRunAtATime(Work work) throws Exception {
    fixture.catalog.hold();
    CompletableFuture<Void> first = work.submit(fixture);
    CompletableFuture<Boolean> run = CompletableFuture.supplyAsync(() -> work.runOnce(fixture));
    fixture.catalog.awaitHeld();
    work.forget(fixture);
    assertFails(ErrorCode.NOT_SERVING, first);
    assertFails(ErrorCode.NOT_SERVING, work.submit(fixture));
    assertFalse(work.runOnce(fixture), "a second run beside the first");
    fixture.catalog.release();
    assertTrue(run.get());
    assertServed();
  }

  @ParameterizedTest
  @EnumSource(Work.class)
  void workOnATabletThatHasFailedIsNotTakenForDone(Work work) {
    CompletableFuture<Void> done = work.submit(fixture);
    fixture.tablet.fail("the test wants it so");
    assertTrue(work.runOnce(fixture));
    assertFails(ErrorCode.NOT_SERVING, done);
    assertFalse(work.runOnce(fixture), "it is not repeated");
  }

  @ParameterizedTest
  @EnumSource(Work.class)
  void nobodyWaitsForARunThatFailsWhileTheServerCloses(Work work) throws Exception {
    fixture.catalog.hold();
    fixture.catalog.failBefore(1);
    CompletableFuture<Void> done = work.submit(fixture);
    CompletableFuture<Boolean> run = CompletableFuture.supplyAsync(() -> work.runOnce(fixture));
    fixture.catalog.awaitHeld();
    work.close(fixture);
    fixture.catalog.release();
    assertTrue(run.get());
    assertFails(ErrorCode.UNAVAILABLE, done);
  }
}
