package org.stele.tserver.compact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.ManualClock;
import org.stele.tserver.files.FileNames;
import org.stele.tserver.tablet.TabletFixture;

/** Compactions that cannot read what they are to merge. */
class CompactorTest {
  private static final int WITHIN_THE_FIRST_BLOCK = 20;

  private final ManualClock clock = new ManualClock();

  @Test
  void damageIsToldAtOnceAndTheWorkRepeated() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = clock;
    TabletFixture fixture = new TabletFixture(options);
    try {
      fixture.writeNow(Mutation.of("row1").put("f", "q", "one"));
      fixture.flush();
      fixture.writeNow(Mutation.of("row2").put("f", "q", "two"));
      fixture.flush();
      String file =
          FileNames.path(
              TabletFixture.TABLE, fixture.tablet.files().files().get(0).reference().fileId());
      fixture.store.flip(file, WITHIN_THE_FIRST_BLOCK, 1);

      CompletableFuture<Void> compaction = fixture.compactor.compactWhole(fixture.tablet);
      assertTrue(fixture.compactor.runOnce());
      assertTrue(compaction.isDone(), "nobody has to wait for an operator");
      SteleException damage =
          assertInstanceOf(
              SteleException.class,
              assertThrows(CompletionException.class, compaction::join).getCause());
      assertEquals(ErrorCode.CORRUPT, damage.code());
      assertEquals(file, damage.file());
      assertFalse(fixture.compactor.runOnce(), "not again at once");
      assertEquals(2, fixture.tablet.files().size());

      fixture.store.flip(file, WITHIN_THE_FIRST_BLOCK, 1);
      clock.advance(Duration.ofMinutes(1));
      fixture.compact(true);
      assertEquals(1, fixture.tablet.files().size());
      assertEquals(2, fixture.scanAll().size());
    } finally {
      fixture.close();
    }
  }
}
