package org.stele.tserver.tablet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.tserver.files.FileNames;
import org.stele.tserver.files.FileReference;

/** What a view holds stays until it is closed. */
class TabletViewTest {
  private static Mutation put(String row, String value) {
    return Mutation.of(row).put("f", "q", value);
  }

  @Test
  void filesGoWhenTheLastViewIsClosed() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(put("a", "1"));
      fixture.flush();
      fixture.writeNow(put("b", "2"));
      fixture.flush();
      List<FileReference> old = fixture.catalog.files();
      assertEquals(2, old.size());
      TabletView first = fixture.tablet.openView();
      TabletView second = fixture.tablet.openView();
      fixture.compact(true);
      assertEquals(1, fixture.tablet.files().size());
      assertEquals(2, fixture.catalog.toDelete().size());
      first.close();
      first.close();
      fixture.collector.runOnce();
      assertEquals(2, second.files().size());
      for (FileReference file : old) {
        assertTrue(fixture.store.exists(FileNames.path(TabletFixture.TABLE, file.fileId())));
      }
      second.close();
      fixture.collector.runOnce();
      assertEquals(1, fixture.store.list("tables/t1").size());
      assertTrue(fixture.catalog.toDelete().isEmpty(), "their delete rows are gone");
      assertEquals(2, fixture.scanAll().size());
    } finally {
      fixture.close();
    }
  }

  /** Who hears that there is memory again may use the tablet, on whatever thread. */
  @Test
  void memoryIsGivenBackWithoutTheLockOfTheTablet() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      List<TabletState> seen = new ArrayList<>();
      fixture.memory.addReleaseListener(
          () ->
              seen.add(
                  CompletableFuture.supplyAsync(fixture.tablet::state)
                      .orTimeout(20, TimeUnit.SECONDS)
                      .join()));
      fixture.writeNow(put("a", "1"));
      fixture.flush();
      assertEquals(List.of(TabletState.OPEN), seen);
      fixture.writeNow(put("b", "2")); // its memory is given back when the tablet is closed
    } finally {
      fixture.close();
    }
  }

  @Test
  void memoryOfAMemtableIsHeldByViews() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(put("a", "1"));
      long used = fixture.memory.used();
      TabletView view = fixture.tablet.openView();
      fixture.flush();
      assertEquals(used, fixture.memory.used());
      view.close();
      assertEquals(0, fixture.memory.used());
    } finally {
      fixture.close();
    }
  }

  @Test
  void deletionIsRepeatedWhenTheStoreFails() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(put("a", "1"));
      fixture.flush();
      fixture.writeNow(Mutation.of("a").deleteRow());
      fixture.flush();
      fixture.store.failAt(
          org.stele.core.file.CrashableFileStore.Operation.DELETE,
          "tables/",
          1,
          new java.io.IOException("busy"));
      fixture.compact(true);
      assertEquals(1, fixture.collector.failures());
      assertEquals(1, fixture.collector.waiting());
      assertEquals(1, fixture.store.list("tables/t1").size());
    } finally {
      fixture.close();
    }
  }

  @Test
  void closedTabletServesNothingButItsOpenViews() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(put("a", "1"));
      Tablet tablet = fixture.tablet;
      tablet.stopWrites().get(10, TimeUnit.SECONDS);
      assertEquals(ErrorCode.NOT_SERVING, fixture.write(put("b", "1")).get().get(0).error().code());
      List<Cell> cells = fixture.lookup(Bytes.of("a"));
      assertEquals(1, cells.size(), "reads go on while it is closing");
      try (TabletView view = tablet.openView()) {
        tablet.close();
        tablet.close();
        assertEquals(TabletState.CLOSED, tablet.state());
        assertEquals(
            ErrorCode.NOT_SERVING, assertThrows(SteleException.class, tablet::openView).code());
        assertEquals(1, view.memtables()[0].cells());
      }
    } finally {
      fixture.close();
    }
  }

  @Test
  void movesOfLifeAreChecked() {
    assertTrue(TabletState.OPENING.mayMoveTo(TabletState.OPEN));
    assertTrue(!TabletState.CLOSED.mayMoveTo(TabletState.OPEN));
    for (TabletState state : TabletState.values()) {
      assertTrue(!state.mayMoveTo(state) && !state.mayMoveTo(TabletState.OPENING));
    }
  }
}
