package org.stele.core.cursor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellModel;
import org.stele.core.data.CellType;
import org.stele.core.data.RandomEntries;

class MergingCursorTest {
  @Test
  void mergesLikeOneSource() {
    Seeds.run(
        200,
        random -> {
          List<CellModel.Entry> all =
              new RandomEntries(random, true).history(random.nextInt(200), 1);
          CellCursor expected = ListCursor.of(all);
          CellCursor merged = MergingCursor.of(split(random, all, random.nextInt(7)));
          walkBoth(random, all, expected, merged);
        });
  }

  /** Sources that together have all entries. */
  static List<ListCursor> split(Random random, List<CellModel.Entry> all, int sources) {
    List<List<CellModel.Entry>> parts = new ArrayList<>();
    for (int i = 0; i <= sources; i++) {
      parts.add(new ArrayList<>());
    }
    all.forEach(entry -> parts.get(random.nextInt(parts.size())).add(entry));
    return parts.stream().map(ListCursor::of).toList();
  }

  /** Moves both cursors at random and compares where they stand. */
  static void walkBoth(
      Random random, List<CellModel.Entry> all, CellCursor expected, CellCursor actual)
      throws IOException {
    for (int move = 0; move < 100; move++) {
      byte[] target = target(random, all);
      switch (random.nextInt(5)) {
        case 0 -> {
          expected.seekBefore(target);
          actual.seekBefore(target);
          assertSameCell(expected, actual);
          continue;
        }
        default -> {
          expected.seek(target);
          actual.seek(target);
        }
      }
      for (int step = random.nextInt(10); step >= 0; step--) {
        assertSameCell(expected, actual);
        if (!expected.isValid()) {
          break;
        }
        expected.next();
        actual.next();
      }
    }
  }

  /** A key that is there, or near one, or just a prefix. */
  static byte[] target(Random random, List<CellModel.Entry> all) {
    if (all.isEmpty() || random.nextInt(10) == 0) {
      byte[] any = new byte[random.nextInt(4)];
      random.nextBytes(any);
      return any;
    }
    byte[] key = all.get(random.nextInt(all.size())).key();
    return switch (random.nextInt(3)) {
      case 0 -> key;
      case 1 -> Arrays.copyOf(key, random.nextInt(key.length + 3));
      default -> {
        key[random.nextInt(key.length)]++;
        yield key;
      }
    };
  }

  static void assertSameCell(CellCursor expected, CellCursor actual) {
    assertEquals(expected.isValid(), actual.isValid());
    if (expected.isValid()) {
      assertArrayEquals(Cursors.key(expected), Cursors.key(actual));
      assertEquals(Cursors.value(expected), Cursors.value(actual));
    }
  }

  @Test
  void theEarlierSourceComesFirst() throws IOException {
    CellModel.Entry one = put("1");
    CellModel.Entry two = put("2");
    CellModel.Entry three = put("3");
    CellCursor merged =
        MergingCursor.of(
            List.of(
                ListCursor.of(List.of(one)),
                ListCursor.of(List.of(two)),
                ListCursor.of(List.of(three))));
    assertEquals(List.of(one, two, three), Cursors.entries(merged));
  }

  private static CellModel.Entry put(String value) {
    return new CellModel.Entry(
        Bytes.of("row"),
        Bytes.EMPTY,
        Bytes.EMPTY,
        Bytes.EMPTY,
        5,
        9,
        CellType.PUT,
        Bytes.of(value));
  }

  @Test
  void ofNoneOrOneNothingIsMerged() {
    assertSame(EmptyCursor.INSTANCE, MergingCursor.of(List.of()));
    ListCursor only = ListCursor.of(List.of());
    assertSame(only, MergingCursor.of(List.of(only)));
    assertFalse(EmptyCursor.INSTANCE.isValid());
  }

  @Test
  void closesItsSources() {
    List<ListCursor> sources = List.of(ListCursor.of(List.of()), ListCursor.of(List.of()));
    CellCursor merged = MergingCursor.of(sources);
    merged.close();
    merged.close();
    assertTrue(sources.stream().allMatch(ListCursor::isClosed));
  }

  @Test
  void nextNeedsACell() throws IOException {
    CellCursor merged =
        MergingCursor.of(List.of(ListCursor.of(List.of(put("1"))), ListCursor.of(List.of())));
    assertThrows(IllegalStateException.class, merged::next);
    merged.seekBefore(new byte[] {(byte) 0xff});
    assertTrue(merged.isValid());
    assertThrows(IllegalStateException.class, merged::next);
    merged.seek(new byte[0]);
    merged.next();
    assertFalse(merged.isValid());
    assertThrows(IllegalStateException.class, merged::next);
  }
}
