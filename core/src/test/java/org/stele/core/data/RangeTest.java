package org.stele.core.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;

class RangeTest {
  private static final byte[] ALPHABET = {0, 1, 0x7f, (byte) 0x80, (byte) 0xfe, (byte) 0xff};

  private static List<Bytes> rowsUpTo(int length) {
    List<Bytes> rows = new ArrayList<>(List.of(Bytes.EMPTY));
    int from = 0;
    for (int i = 0; i < length; i++) {
      int to = rows.size();
      for (; from < to; from++) {
        for (byte b : ALPHABET) {
          byte[] longer = Arrays.copyOf(rows.get(from).unsafeArray(), rows.get(from).length() + 1);
          longer[longer.length - 1] = b;
          rows.add(Bytes.wrap(longer));
        }
      }
    }
    return rows;
  }

  private static byte[] key(Bytes row) {
    return KeyCodec.encode(row, Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY, 5, 1, CellType.PUT);
  }

  private static boolean contains(Range range, byte[] key) {
    byte[] upper = range.upperKey();
    return Arrays.compareUnsigned(range.lowerKey(), key) <= 0
        && (upper == null || Arrays.compareUnsigned(key, upper) < 0);
  }

  @Test
  void prefixesHoldTheirRowsAndNoOthers() {
    List<Bytes> rows = rowsUpTo(3);
    for (Bytes prefix : rowsUpTo(2)) {
      Range range = Range.prefix(prefix);
      for (Bytes row : rows) {
        assertEquals(
            row.startsWith(prefix),
            contains(range, key(row)),
            "row " + row + " and prefix " + prefix);
      }
    }
  }

  @Test
  void rangesOfRowsAreThoseOfAMap() {
    NavigableMap<Bytes, Boolean> map = new TreeMap<>();
    rowsUpTo(3).forEach(row -> map.put(row, true));
    List<Bytes> sample = rowsUpTo(3).stream().filter(row -> row.hashCode() % 7 == 0).toList();
    assertTrue(sample.size() > 10);
    for (Bytes start : sample) {
      for (Bytes stop : sample) {
        for (int choice = 0; choice < 4; choice++) {
          checkRows(map, start, (choice & 1) == 0, stop, (choice & 2) == 0);
        }
      }
    }
  }

  private static void checkRows(
      NavigableMap<Bytes, Boolean> map,
      Bytes start,
      boolean withStart,
      Bytes stop,
      boolean withStop) {
    if (start.compareTo(stop) > 0) {
      assertThrows(
          IllegalArgumentException.class, () -> Range.rows(start, withStart, stop, withStop));
      return;
    }
    Range range = Range.rows(start, withStart, stop, withStop);
    List<Bytes> expected = List.copyOf(map.subMap(start, withStart, stop, withStop).keySet());
    List<Bytes> actual = map.keySet().stream().filter(row -> contains(range, key(row))).toList();
    assertEquals(expected, actual, range.toString());
  }

  @Test
  void anyRangeHoldsWhatItsPartsSay() {
    Seeds.run(
        500,
        random -> {
          RandomEntries generator = new RandomEntries(random, false);
          Range range = generator.range();
          for (CellModel.Entry entry : generator.history(100, 1)) {
            Cell cell =
                new Cell(
                    entry.row(),
                    entry.family(),
                    entry.qualifier(),
                    entry.visibility(),
                    entry.timestamp(),
                    entry.value());
            assertEquals(
                CellModel.isInRange(cell, range), contains(range, entry.key()), cell + " " + range);
          }
        });
  }

  @Test
  void openRanges() {
    assertEquals(0, Range.all().lowerKey().length);
    assertNull(Range.all().upperKey());
    assertNull(Range.prefix(Bytes.wrap(new byte[] {-1, -1})).upperKey());
    assertNull(Range.all().startRow());
    assertEquals(Bytes.of("a"), Range.row("a").startRow());
  }

  @Test
  void theFirstRowOfARangeIsBehindARowThatIsLeftOut() {
    Bytes row = Bytes.of("a");
    Bound column = new Bound(List.of(row, Bytes.of("f")), null, false);
    assertEquals(row, Range.rows(row, true, null, false).startRow());
    assertEquals(Bytes.of("a\0"), Range.rows(row, false, null, false).startRow());
    assertEquals(row, new Range(column, null).startRow());
  }

  @Test
  void oneRow() {
    Range range = Range.row("a");
    assertTrue(contains(range, key(Bytes.of("a"))));
    assertFalse(contains(range, key(Bytes.of("a\0"))));
    assertFalse(contains(range, key(Bytes.of("`"))));
    assertArrayEquals(KeyCodec.lowerBound(Bytes.of("a")), range.lowerKey());
    assertArrayEquals(KeyCodec.upperBound(Bytes.of("a")), range.upperKey());
  }

  @Test
  void boundsAreChecked() {
    assertThrows(IllegalArgumentException.class, () -> new Bound(List.of(), null, true));
    assertThrows(IllegalArgumentException.class, () -> new Bound(List.of(Bytes.of("r")), 5L, true));
  }
}
