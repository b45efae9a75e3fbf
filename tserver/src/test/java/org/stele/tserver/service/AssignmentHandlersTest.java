package org.stele.tserver.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.tserver.tablet.TabletFixture;

/** What the coordinator and people hear who have work done on a tablet that has failed. */
class AssignmentHandlersTest {
  @Test
  void aTabletThatHasFailedIsNotFlushedAndSaysSo() throws Exception {
    TabletFixture engine = new TabletFixture(new TabletFixture.Options());
    engine.writeNow(Mutation.of("row").put("f", "q", "v"));
    assertEquals(engine.tablet, AssignmentHandlers.served(engine.tablet));
    CompletableFuture<Void> flushed = engine.flusher.flushSoon(engine.tablet);
    CompletableFuture<Void> compacted = engine.compactor.compactWhole(engine.tablet);
    engine.tablet.fail("its file is damaged");
    engine.flusher.runOnce();
    engine.compactor.runOnce();
    assertFailed(flushed);
    assertFailed(compacted);
    SteleException refused =
        assertThrows(SteleException.class, () -> AssignmentHandlers.served(engine.tablet));
    assertEquals(ErrorCode.OFFLINE, refused.code());
    assertTrue(refused.getMessage().contains("its file is damaged"), refused::getMessage);
    engine.close();
  }

  @Test
  void aTabletThatIsBeingClosedIsNotCompacted() throws Exception {
    TabletFixture engine = new TabletFixture(new TabletFixture.Options());
    CompletableFuture<Void> compacted = engine.compactor.compactWhole(engine.tablet);
    engine.tablet.stopWrites().join();
    engine.compactor.runOnce();
    engine.compactor.forget(engine.tablet);
    assertFailed(compacted);
    engine.close();
  }

  private static void assertFailed(CompletableFuture<Void> work) {
    assertTrue(work.isDone());
    CompletionException failure = assertThrows(CompletionException.class, work::join);
    assertEquals(ErrorCode.NOT_SERVING, ((SteleException) failure.getCause()).code());
  }
}
