package org.stele.tserver.scan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bound;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellModel;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.tserver.tablet.TabletExtent;
import org.stele.tserver.tablet.TabletFixture;

/** Range ends at every kind of byte, with tablet borders on the same points. */
class ScanBoundsTest {
  private static final int[] BYTES = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};

  private static List<Bytes> rows(int maxLength) {
    List<Bytes> rows = new ArrayList<>();
    List<Bytes> shorter = List.of(Bytes.EMPTY);
    for (int length = 1; length <= maxLength; length++) {
      List<Bytes> longer = new ArrayList<>();
      for (Bytes row : shorter) {
        for (int next : BYTES) {
          byte[] array = java.util.Arrays.copyOf(row.unsafeArray(), length);
          array[length - 1] = (byte) next;
          longer.add(Bytes.wrap(array));
        }
      }
      rows.addAll(longer);
      shorter = longer;
    }
    return rows;
  }

  @Test
  void everyRangeOfRows() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    Bytes first = Bytes.wrap(new byte[] {0, (byte) 0xff});
    Bytes second = Bytes.wrap(new byte[] {(byte) 0x80});
    Bytes third = Bytes.wrap(new byte[] {(byte) 0xff, (byte) 0xff});
    options.extent = new TabletExtent(TabletFixture.TABLE, null, first);
    TabletFixture fixture = new TabletFixture(options);
    try {
      fixture.addTablet("tablet2", new TabletExtent(TabletFixture.TABLE, first, second));
      fixture.addTablet("tablet4", new TabletExtent(TabletFixture.TABLE, third, null));
      fixture.addTablet("tablet3", new TabletExtent(TabletFixture.TABLE, second, third));
      CellModel model = new CellModel();
      List<Bytes> rows = rows(3);
      List<Mutation> all = new ArrayList<>();
      for (Bytes row : rows) {
        Mutation mutation =
            Mutation.of(row).put(Bytes.of("f"), Bytes.of("q"), Bytes.EMPTY, 1L, Bytes.of("v"));
        all.add(mutation);
        model.add(mutation, 1, 1);
      }
      fixture.writeNow(all.toArray(Mutation[]::new));
      checkAll(fixture, model);
      fixture.flush();
      checkAll(fixture, model);
    } finally {
      fixture.close();
    }
  }

  private static void checkAll(TabletFixture fixture, CellModel model) {
    Random random = new Random(5);
    List<Cell> cells = model.read(-1, 1);
    assertEquals(cells, fixture.scanAll());
    List<Bytes> prefixes = new ArrayList<>(rows(2));
    prefixes.add(Bytes.EMPTY);
    prefixes.add(Bytes.wrap(new byte[] {(byte) 0xaa, (byte) 0xff}));
    for (Bytes prefix : prefixes) {
      List<Cell> expected = cells.stream().filter(cell -> cell.row().startsWith(prefix)).toList();
      assertEquals(expected, fixture.scan(Range.prefix(prefix), List.of(), 7, 0, 0));
    }
    List<Bytes> ends = rows(3);
    for (int i = 0; i < 1500; i++) {
      Bytes a = ends.get(random.nextInt(ends.size()));
      Bytes b = random.nextInt(5) == 0 ? a : ends.get(random.nextInt(ends.size()));
      Bytes start = a.compareTo(b) <= 0 ? a : b;
      Bytes stop = start.equals(a) ? b : a;
      boolean startIn = random.nextBoolean();
      boolean stopIn = random.nextBoolean() || start.equals(stop);
      if (start.equals(stop)) {
        startIn = true;
      }
      Range range = new Range(Bound.row(start, startIn), Bound.row(stop, stopIn));
      List<Cell> expected =
          cells.stream().filter(cell -> CellModel.isInRange(cell, range)).toList();
      assertEquals(
          expected, fixture.scan(range, List.of(), random.nextInt(4), 0, 0), range::toString);
    }
  }
}
