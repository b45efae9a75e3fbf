package org.stele.core.cursor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellModel;
import org.stele.core.data.CellType;
import org.stele.core.data.Column;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.RandomEntries;
import org.stele.core.data.Range;

class VersionCursorTest {
  private static final byte[] START = new byte[0];
  private static final long ALL = -1L;

  private static CellCursor reader(
      CellCursor source, long maxSequence, int versions, List<Column> columns) {
    return VersionCursor.read(source, maxSequence, versions, columns, true);
  }

  @Test
  void showsWhatTheModelShows() {
    Seeds.run(
        600,
        random -> {
          RandomEntries generator = new RandomEntries(random, true);
          List<CellModel.Entry> all = generator.history(random.nextInt(300), 1);
          CellModel model = CellModel.of(all);
          for (int read = 0; read < 5; read++) {
            long sequence = random.nextInt(4) == 0 ? ALL : random.nextInt(all.size() + 2);
            int versions = 1 + random.nextInt(4);
            Range range = generator.range();
            List<Column> columns = generator.columns();
            CellCursor source =
                MergingCursor.of(MergingCursorTest.split(random, all, random.nextInt(5)));
            try (CellCursor cursor =
                new BoundedCursor(
                    reader(source, sequence, versions, columns),
                    range.lowerKey(),
                    range.upperKey())) {
              assertEquals(
                  model.read(sequence, versions, range, columns), Cursors.cells(cursor, START));
            }
          }
        });
  }

  @Test
  void sourcesWithoutScopeDeletesNeedNoLookForThem() {
    Seeds.run(
        200,
        random -> {
          RandomEntries generator = new RandomEntries(random, false);
          List<CellModel.Entry> all = generator.history(random.nextInt(200), 1);
          CellModel model = CellModel.of(all);
          int versions = 1 + random.nextInt(3);
          Range range = generator.range();
          List<Column> columns = generator.columns();
          CellCursor source = MergingCursor.of(MergingCursorTest.split(random, all, 3));
          CellCursor cursor =
              new BoundedCursor(
                  VersionCursor.read(source, ALL, versions, columns, false),
                  range.lowerKey(),
                  range.upperKey());
          assertEquals(model.read(ALL, versions, range, columns), Cursors.cells(cursor, START));
        });
  }

  @Test
  void seeksInBothDirectionsGiveTheSameCells() {
    Seeds.run(
        200,
        random -> {
          RandomEntries generator = new RandomEntries(random, true);
          List<CellModel.Entry> all = generator.history(1 + random.nextInt(150), 1);
          int versions = 1 + random.nextInt(3);
          long sequence = 1L + random.nextInt(all.size());
          List<Column> columns = generator.columns();
          CellCursor source = MergingCursor.of(MergingCursorTest.split(random, all, 3));
          CellCursor cursor = reader(source, sequence, versions, columns);
          List<byte[]> keys = new ArrayList<>();
          for (cursor.seek(START); cursor.isValid(); cursor.next()) {
            keys.add(Cursors.key(cursor));
          }
          for (int i = 0; i < 50; i++) {
            byte[] target = MergingCursorTest.target(random, all);
            int at = (int) keys.stream().filter(key -> precedes(key, target)).count();
            cursor.seek(target);
            assertEquals(at < keys.size(), cursor.isValid());
            if (cursor.isValid()) {
              assertArrayEquals(keys.get(at), Cursors.key(cursor));
            }
            cursor.seekBefore(target);
            assertEquals(at > 0, cursor.isValid());
            if (cursor.isValid()) {
              assertArrayEquals(keys.get(at - 1), Cursors.key(cursor));
            }
          }
        });
  }

  private static boolean precedes(byte[] key, byte[] target) {
    return Arrays.compareUnsigned(key, target) < 0;
  }

  @Test
  void compactionsInAnyOrderChangeNoAnswer() {
    Seeds.run(
        300,
        random -> {
          RandomEntries generator = new RandomEntries(random, true);
          List<CellModel.Entry> all = generator.history(50 + random.nextInt(250), 1);
          int versions = 1 + random.nextInt(3);
          List<Cell> expected = CellModel.of(all).read(ALL, versions);
          List<List<CellModel.Entry>> runs = cut(random, all);
          while (runs.size() > 1 || random.nextBoolean()) {
            int from = random.nextInt(runs.size());
            int to = from + 1 + random.nextInt(runs.size() - from);
            List<CellModel.Entry> compacted = compact(runs.subList(from, to), versions, from == 0);
            runs.subList(from, to).clear();
            runs.add(from, compacted);
            assertEquals(expected, read(runs, versions));
          }
          if (runs.size() == 1) {
            List<CellModel.Entry> whole = compact(runs, versions, true);
            assertTrue(whole.stream().allMatch(entry -> entry.type() == CellType.PUT));
            assertEquals(expected.size(), whole.size(), "nothing hidden is left");
          }
        });
  }

  /** Runs that are contiguous in sequence, the oldest first. */
  private static List<List<CellModel.Entry>> cut(Random random, List<CellModel.Entry> all) {
    List<List<CellModel.Entry>> runs = new ArrayList<>();
    int from = 0;
    while (from < all.size()) {
      int to = Math.min(all.size(), from + 1 + random.nextInt(60));
      runs.add(all.subList(from, to));
      from = to;
    }
    return runs;
  }

  private static CellCursor merge(List<List<CellModel.Entry>> runs) {
    return MergingCursor.of(runs.stream().map(ListCursor::of).toList());
  }

  private static List<CellModel.Entry> compact(
      List<List<CellModel.Entry>> runs, int versions, boolean dropDeletes) throws IOException {
    return Cursors.entries(VersionCursor.compact(merge(runs), versions, dropDeletes));
  }

  private static List<Cell> read(List<List<CellModel.Entry>> runs, int versions)
      throws IOException {
    return Cursors.cells(reader(merge(runs), ALL, versions, List.of()), START);
  }

  @Test
  void deleteThenPutInOneMillisecondLeavesThePut() throws IOException {
    List<CellModel.Entry> all =
        List.of(
            entry("q", 5, 1, CellType.PUT),
            entry("q", 5, 2, CellType.DELETE_ROW),
            entry("q", 5, 3, CellType.PUT),
            entry("q", 5, 4, CellType.DELETE_COLUMN),
            entry("q", 5, 5, CellType.PUT));
    for (int sequence = 1; sequence <= 5; sequence++) {
      CellCursor cursor = reader(ListCursor.of(all), sequence, 1, List.of());
      assertEquals(sequence % 2, Cursors.cells(cursor, START).size(), "at " + sequence);
    }
  }

  @Test
  void manyVersionsAreSkippedBySeek() throws IOException {
    List<CellModel.Entry> all = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      all.add(entry("q", i, i, CellType.PUT));
    }
    all.add(entry("r", 1, 10_000, CellType.PUT));
    CountingCursor source = new CountingCursor(ListCursor.of(all));
    CellCursor cursor = reader(source, ALL, 1, List.of());
    List<Cell> cells = Cursors.cells(cursor, START);
    assertEquals(2, cells.size());
    assertTrue(source.moves < 50, source.moves + " moves");
  }

  @Test
  void unwantedColumnsAreSkippedBySeek() throws IOException {
    List<CellModel.Entry> all = new ArrayList<>();
    for (int row = 0; row < 10; row++) {
      for (int i = 0; i < 1000; i++) {
        all.add(
            new CellModel.Entry(
                Bytes.of("r" + row),
                Bytes.of("f"),
                Bytes.of(String.format("%04d", i)),
                Bytes.EMPTY,
                1,
                i,
                CellType.PUT,
                Bytes.EMPTY));
      }
    }
    CountingCursor source = new CountingCursor(ListCursor.of(all));
    CellCursor cursor =
        reader(source, ALL, 1, List.of(Column.of("f", "0500"), Column.of("f", "0900")));
    assertEquals(20, Cursors.cells(cursor, START).size());
    assertTrue(source.moves < 500, source.moves + " moves");
  }

  @Test
  void hiddenCellsBehindTheStopAreNotWalked() throws IOException {
    List<CellModel.Entry> all = new ArrayList<>();
    all.add(entry("a", 1, 1, CellType.PUT));
    for (int i = 0; i < 10_000; i++) {
      all.add(entry("b" + i, 1, 1_000_000, CellType.PUT));
    }
    CountingCursor source = new CountingCursor(ListCursor.of(all));
    byte[] upper = KeyCodec.lowerBound(Bytes.of("row"), Bytes.of("f"), Bytes.of("b"));
    CellCursor visible = VersionCursor.read(source, 2_000_000, 1, List.of(), true);
    CellCursor cursor = new BoundedCursor(visible, START, upper);
    assertEquals(1, Cursors.cells(cursor, START).size());
    assertTrue(source.moves < 10, source.moves + " moves");
  }

  @Test
  void boundsHoldInBothDirections() {
    Seeds.run(
        100,
        random -> {
          RandomEntries generator = new RandomEntries(random, false);
          List<CellModel.Entry> all = generator.history(1 + random.nextInt(100), 1);
          byte[] a = MergingCursorTest.target(random, all);
          byte[] b = MergingCursorTest.target(random, all);
          byte[] lower = precedes(a, b) ? a : b;
          byte[] upper = precedes(a, b) ? b : a;
          CellCursor expected =
              ListCursor.of(
                  all.stream()
                      .filter(e -> !precedes(e.key(), lower) && precedes(e.key(), upper))
                      .toList());
          CellCursor bounded = new BoundedCursor(ListCursor.of(all), lower, upper);
          MergingCursorTest.walkBoth(random, all, expected, bounded);
        });
  }

  @Test
  void aNewCursorStandsNowhere() {
    CellCursor cursor = reader(ListCursor.of(List.of()), ALL, 1, List.of());
    assertFalse(cursor.isValid());
  }

  private static CellModel.Entry entry(
      String qualifier, long timestamp, long sequence, CellType type) {
    boolean isCell = type != CellType.DELETE_ROW;
    return new CellModel.Entry(
        Bytes.of("row"),
        isCell ? Bytes.of("f") : Bytes.EMPTY,
        isCell ? Bytes.of(qualifier) : Bytes.EMPTY,
        Bytes.EMPTY,
        timestamp,
        sequence,
        type,
        Bytes.EMPTY);
  }

  /** Counts the moves of a source. */
  private static final class CountingCursor extends ForwardingCursor {
    int moves;

    CountingCursor(CellCursor source) {
      super(source);
    }

    @Override
    public void seek(byte[] key) throws IOException {
      moves++;
      source.seek(key);
    }

    @Override
    public void seekBefore(byte[] key) throws IOException {
      moves++;
      source.seekBefore(key);
    }

    @Override
    public void next() throws IOException {
      moves++;
      source.next();
    }

    @Override
    public boolean isValid() {
      return source.isValid();
    }
  }
}
