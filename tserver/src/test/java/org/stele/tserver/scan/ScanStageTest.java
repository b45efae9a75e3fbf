package org.stele.tserver.scan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;
import org.stele.tserver.lookup.LookupAnswer;
import org.stele.tserver.lookup.LookupQuery;
import org.stele.tserver.tablet.TabletFixture;

class ScanStageTest {
  private static ScanAnswer scan(
      TabletFixture fixture, int maxRows, int maxCells, byte @Nullable [] position, long sequence) {
    return scan(fixture, maxRows, maxCells, position, sequence, () -> false);
  }

  private static ScanAnswer scan(
      TabletFixture fixture,
      int maxRows,
      int maxCells,
      byte @Nullable [] position,
      long sequence,
      BooleanSupplier othersWait) {
    return fixture.scans.scan(
        new ScanQuery(
            TabletFixture.TABLE,
            new byte[0],
            null,
            List.of(),
            maxRows,
            maxCells,
            0,
            position,
            sequence,
            false,
            fixture.clock.nanos() + TimeUnit.SECONDS.toNanos(60)),
        othersWait);
  }

  private static Mutation row(String row, int columns, String value) {
    Mutation mutation = Mutation.of(row);
    for (int i = 0; i < columns; i++) {
      mutation.put("f", "q" + (1000 + i), value);
    }
    return mutation;
  }

  @Test
  void batchEndsWithinARowOnlyIfTheRowAloneIsTooLarge() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(row("a", 3, "1"), row("b", 5, "1"), row("c", 20, "1"));
      ScanAnswer first = scan(fixture, 0, 6, null, 0);
      assertEquals(3, first.cells().cells(), "b would not fit whole");
      assertFalse(first.rowContinues());
      ScanAnswer second = scan(fixture, 0, 6, first.position(), 0);
      assertEquals(5, second.cells().cells());
      assertFalse(second.rowContinues());
      ScanAnswer third = scan(fixture, 0, 6, second.position(), 0);
      assertEquals(6, third.cells().cells());
      assertTrue(third.rowContinues());
    } finally {
      fixture.close();
    }
  }

  @Test
  void rowIsReadOnAsItWasBegunUntilVersionsOfItAreDropped() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(row("r", 20, "old"), row("s", 1, "old"));
      ScanAnswer first = scan(fixture, 0, 8, null, 0);
      assertTrue(first.rowContinues());
      byte[] position = first.position();
      long sequence = first.readSequence();
      fixture.writeNow(row("r", 20, "new"), row("s", 1, "new"));
      ScanAnswer second = scan(fixture, 0, 0, position, sequence);
      List<Cell> rest = TabletFixture.cells(second.cells());
      assertEquals(12, rest.size(), "the batch ends with the row");
      assertTrue(rest.stream().allMatch(cell -> cell.value().equals(Bytes.of("old"))));
      assertFalse(second.atEnd());
      assertFalse(second.rowContinues());
      List<Cell> after = TabletFixture.cells(scan(fixture, 0, 0, second.position(), 0).cells());
      assertEquals(List.of("new"), after.stream().map(cell -> cell.value().toUtf8()).toList());

      fixture.flush();
      ScanAnswer changed = scan(fixture, 0, 0, position, sequence);
      assertTrue(changed.viewChanged());
      assertEquals(0, changed.cells().cells());
      assertFalse(changed.atEnd());
    } finally {
      fixture.close();
    }
  }

  @Test
  void flushThatDropsNothingChangesNoView() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(row("r", 20, "old"));
      ScanAnswer first = scan(fixture, 0, 8, null, 0);
      fixture.writeNow(row("s", 20, "old"));
      fixture.flush();
      ScanAnswer second = scan(fixture, 0, 0, first.position(), first.readSequence());
      assertFalse(second.viewChanged());
      assertEquals(12, second.cells().cells());
      fixture.reopen();
      assertTrue(scan(fixture, 0, 0, first.position(), first.readSequence()).viewChanged());
    } finally {
      fixture.close();
    }
  }

  @Test
  void lookupOfALargeRowIsGoneOnWithByAScan() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      fixture.writeNow(row("r", 100, "value"));
      LookupAnswer answer = fixture.lookupAnswer(Bytes.of("r"), 300);
      assertTrue(answer.more());
      List<Cell> cells = new ArrayList<>(TabletFixture.cells(answer.cells()));
      ScanAnswer rest =
          fixture.scans.scan(
              new ScanQuery(
                  TabletFixture.TABLE,
                  Range.row("r").lowerKey(),
                  Range.row("r").upperKey(),
                  List.of(),
                  0,
                  0,
                  0,
                  answer.position(),
                  answer.readSequence(),
                  false,
                  fixture.clock.nanos() + 1_000_000_000L),
              () -> false);
      cells.addAll(TabletFixture.cells(rest.cells()));
      assertTrue(rest.atEnd());
      assertEquals(fixture.scanAll(), cells);
    } finally {
      fixture.close();
    }
  }

  @Test
  void answersAsListsOfCellsAreBoundedByTheirOwnSize() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      String name = "r".repeat(10_000);
      fixture.writeNow(row(name, 1000, "v")); // little when packed, 10 MB as a list
      byte[] array = Bytes.of(name).unsafeArray();
      LookupAnswer packed =
          fixture.lookups.lookup(
              new LookupQuery(TabletFixture.TABLE, array, 0, array.length, List.of(), 0));
      assertEquals(1000, packed.cells().cells());
      LookupAnswer answer =
          fixture.lookups.lookup(
              new LookupQuery(
                  TabletFixture.TABLE, array, 0, array.length, List.of(), true, 100_000));
      assertTrue(answer.more());
      assertEquals(10, answer.cells().cells());
      ScanAnswer batch =
          fixture.scans.scan(
              new ScanQuery(
                  TabletFixture.TABLE,
                  Range.row(name).lowerKey(),
                  Range.row(name).upperKey(),
                  List.of(),
                  0,
                  0,
                  true,
                  100_000,
                  null,
                  0,
                  false,
                  fixture.clock.nanos() + 1_000_000_000L),
              () -> false);
      assertEquals(9, batch.cells().cells());
      assertTrue(batch.rowContinues());
    } finally {
      fixture.close();
    }
  }

  /** Each look at the clock takes a millisecond. */
  private static final class SlowClock implements Clock {
    private final java.util.concurrent.atomic.AtomicLong nanos =
        new java.util.concurrent.atomic.AtomicLong();

    @Override
    public long wallMillis() {
      return 1_780_000_000_000L;
    }

    @Override
    public long nanos() {
      return nanos.addAndGet(1_000_000);
    }
  }

  @Test
  void batchEndsInTimeAlsoWhereAllIsHidden() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = new SlowClock();
    options.batchTime = Duration.ofMillis(20);
    TabletFixture fixture = new TabletFixture(options);
    try {
      for (int i = 0; i < 3000; i++) {
        String name = "row" + (10_000 + i);
        fixture.writeNow(row(name, 2, "1"), Mutation.of(name).deleteRow());
      }
      fixture.writeNow(row("z", 1, "last"));
      int batches = 1;
      ScanAnswer answer = scan(fixture, 0, 0, null, 0);
      while (!answer.atEnd()) {
        byte[] before = answer.position();
        answer = scan(fixture, 0, 0, before, 0);
        batches++;
        assertTrue(
            answer.atEnd() || java.util.Arrays.compareUnsigned(answer.position(), before) > 0);
      }
      assertTrue(batches > 3, batches + " batches");
      assertEquals(1, answer.cells().cells());
    } finally {
      fixture.close();
    }
  }

  /** All of it is hidden, by a delete of the row, of families, of columns, or by the filter. */
  @Test
  void batchEndsInTimeAlsoWithinARowOfHiddenCells() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = new SlowClock();
    options.batchTime = Duration.ofMillis(20);
    TabletFixture fixture = new TabletFixture(options);
    try {
      int columns = 20_000;
      Mutation family = Mutation.of("of a family");
      Mutation families = Mutation.of("of families");
      Mutation each = Mutation.of("of columns");
      Mutation hidden = Mutation.of("of the row");
      for (int i = 0; i < columns; i++) {
        hidden.put("f", "q" + i, "hidden");
        family.put("f", "q" + i, "hidden");
        families.put("f" + i, "q", "hidden");
        each.put("f", "q" + i, "hidden").deleteColumn("f", "q" + i);
      }
      for (int i = 0; i < columns; i++) {
        families.deleteFamily(Bytes.of("f" + i), null);
      }
      fixture.writeNow(
          row("before", 1, "seen"), hidden, Mutation.of("of the row").deleteRow(), families, each);
      fixture.writeNow(family.deleteFamily(Bytes.of("f"), null).put("g", "q", "seen"));
      fixture.writeNow(row("z", 1, "seen"));

      List<String> rows = new ArrayList<>();
      int batches = 0;
      int withinRows = 0;
      byte[] position = null;
      long sequence = 0;
      ScanAnswer answer;
      do {
        answer = scan(fixture, 0, 0, position, sequence);
        assertFalse(answer.viewChanged());
        TabletFixture.cells(answer.cells()).forEach(cell -> rows.add(cell.row().toUtf8()));
        assertTrue(
            answer.atEnd()
                || position == null
                || java.util.Arrays.compareUnsigned(answer.position(), position) > 0);
        position = answer.position();
        sequence = answer.rowContinues() ? answer.readSequence() : 0;
        batches++;
        withinRows += answer.rowContinues() ? 1 : 0;
      } while (!answer.atEnd());
      assertEquals(List.of("before", "of a family", "z"), rows);
      assertTrue(withinRows > 40, withinRows + " of " + batches + " batches end within a row");
    } finally {
      fixture.close();
    }
  }

  @Test
  void batchEndsSoonerWhileOthersWait() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.clock = new SlowClock();
    options.batchTime = Duration.ofSeconds(100);
    TabletFixture fixture = new TabletFixture(options);
    try {
      for (int i = 0; i < 3000; i++) {
        fixture.writeNow(row("row" + (10_000 + i), 1, "1"));
      }
      ScanAnswer alone = scan(fixture, 0, 0, null, 0);
      assertTrue(alone.atEnd());
      assertEquals(3000, alone.cells().cells());
      List<Cell> cells = new ArrayList<>();
      int batches = 0;
      byte[] position = null;
      ScanAnswer answer;
      do {
        answer = scan(fixture, 0, 0, position, 0, () -> true);
        cells.addAll(TabletFixture.cells(answer.cells()));
        position = answer.position();
        batches++;
      } while (!answer.atEnd());
      assertTrue(batches > 3, batches + " batches");
      assertEquals(fixture.scanAll(), cells);
    } finally {
      fixture.close();
    }
  }

  @Test
  void damageNamesFileAndOffset() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.setting("table.file.block.bytes", "512B");
    options.setting("table.file.compression", "none");
    TabletFixture fixture = new TabletFixture(options);
    try {
      for (int i = 0; i < 200; i++) {
        fixture.writeNow(row("row" + (1000 + i), 1, "value"));
      }
      fixture.flush();
      String path = "tables/t1/" + fixture.store.list("tables/t1").get(0).name();
      fixture.store.flip(path, 100, 4);
      for (int i = 0; i < 50; i++) {
        SteleException damage =
            assertThrows(SteleException.class, () -> fixture.lookup(Bytes.of("row1000")));
        assertEquals(ErrorCode.CORRUPT, damage.code());
        assertEquals(path, damage.file());
        assertThrows(SteleException.class, fixture::scanAll);
      }
      assertEquals(1, fixture.lookup(Bytes.of("row1199")).size(), "other rows are served");
      fixture.store.flip(path, 100, 4);
      assertEquals(1, fixture.lookup(Bytes.of("row1000")).size());
      assertEquals(200, fixture.scanAll().size());
    } finally {
      fixture.close();
    }
  }

  @Test
  void malformedPositionIsRefused() throws Exception {
    TabletFixture fixture = new TabletFixture(new TabletFixture.Options());
    try {
      SteleException refused =
          assertThrows(
              SteleException.class, () -> scan(fixture, 0, 0, new byte[] {5, 6}, 1L << 40));
      assertEquals(ErrorCode.BAD_REQUEST, refused.code());
    } finally {
      fixture.close();
    }
  }
}
