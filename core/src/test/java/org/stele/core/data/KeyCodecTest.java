package org.stele.core.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;

class KeyCodecTest {
  /** The order of cells as the design says it, over decoded parts. */
  private static final Comparator<CellModel.Entry> ORDER =
      Comparator.comparing(CellModel.Entry::row)
          .thenComparing(entry -> entry.type() == CellType.DELETE_ROW ? 0 : 1)
          .thenComparing(CellModel.Entry::family)
          .thenComparing(entry -> entry.type() == CellType.DELETE_FAMILY ? 0 : 1)
          .thenComparing(CellModel.Entry::qualifier)
          .thenComparing(CellModel.Entry::visibility)
          .thenComparing(Comparator.comparingLong(CellModel.Entry::timestamp).reversed())
          .thenComparing((a, b) -> Long.compareUnsigned(b.sequence(), a.sequence()))
          .thenComparing(entry -> entry.type().code());

  private static final long[] NUMBERS = {
    0, 1, -1, 2, 255, 256, 1_780_000_000_000L, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1
  };

  private static CellModel.Entry random(Random random, RandomEntries generator) {
    CellModel.Entry entry = generator.history(1, NUMBERS[random.nextInt(NUMBERS.length)]).get(0);
    long timestamp =
        random.nextBoolean() ? NUMBERS[random.nextInt(NUMBERS.length)] : random.nextLong();
    Bytes row = random.nextInt(3) == 0 ? randomBytes(random) : entry.row();
    return new CellModel.Entry(
        row,
        entry.family(),
        entry.qualifier(),
        entry.visibility(),
        timestamp,
        entry.sequence(),
        entry.type(),
        Bytes.EMPTY);
  }

  private static Bytes randomBytes(Random random) {
    byte[] bytes = new byte[random.nextInt(6)];
    random.nextBytes(bytes);
    return Bytes.wrap(bytes);
  }

  @Test
  void encodedOrderIsTheOrderOfCells() {
    Seeds.run(
        300,
        random -> {
          RandomEntries generator = new RandomEntries(random, true);
          for (int i = 0; i < 200; i++) {
            CellModel.Entry a = random(random, generator);
            CellModel.Entry b = random(random, generator);
            assertEquals(
                Integer.signum(ORDER.compare(a, b)),
                Integer.signum(Arrays.compareUnsigned(a.key(), b.key())),
                a + " and " + b);
          }
        });
  }

  @Test
  void decodeGivesWhatWasEncoded() {
    Seeds.run(
        300,
        random -> {
          CellModel.Entry entry = random(random, new RandomEntries(random, true));
          byte[] key = entry.key();
          byte[] padded = new byte[key.length + 10];
          System.arraycopy(key, 0, padded, 4, key.length);
          KeyCodec.DecodedKey decoded = KeyCodec.decode(padded, 4, key.length);
          assertEquals(entry.row(), decoded.row());
          assertEquals(entry.family(), decoded.family());
          assertEquals(entry.qualifier(), decoded.qualifier());
          assertEquals(entry.visibility(), decoded.visibility());
          assertEquals(entry.timestamp(), decoded.timestamp());
          assertEquals(entry.sequence(), decoded.sequence());
          assertEquals(entry.type(), decoded.type());
          assertEquals(entry.timestamp(), KeyCodec.timestamp(padded, 4, key.length));
          assertEquals(entry.sequence(), KeyCodec.sequence(padded, 4, key.length));
          assertEquals(entry.type().code(), KeyCodec.typeCode(padded, 4, key.length));
          byte[] again =
              KeyCodec.encode(
                  entry.row(),
                  entry.family(),
                  entry.qualifier(),
                  entry.visibility(),
                  0,
                  0,
                  entry.type());
          assertEquals(
              again.length,
              KeyCodec.encodedLength(
                  KeyCodec.partLength(entry.row()),
                  entry.family(),
                  entry.qualifier(),
                  entry.visibility(),
                  entry.type()));
          KeyCodec.setTimestamp(again, 0, again.length, entry.timestamp());
          KeyCodec.setSequence(again, 0, again.length, entry.sequence());
          assertArrayEquals(key, again);
        });
  }

  @Test
  void boundsEncloseTheirScopeAndNothingElse() {
    Seeds.run(
        300,
        random -> {
          RandomEntries generator = new RandomEntries(random, true);
          CellModel.Entry inside = random(random, generator);
          List<Bytes> parts =
              List.of(inside.row(), inside.family(), inside.qualifier(), inside.visibility());
          int most =
              switch (inside.type()) {
                case DELETE_ROW -> 1;
                case DELETE_FAMILY -> 2;
                default -> 4;
              };
          int count = 1 + random.nextInt(most);
          Bytes[] scope = parts.subList(0, count).toArray(Bytes[]::new);
          byte[] lower = KeyCodec.lowerBound(scope);
          byte[] upper = KeyCodec.upperBound(scope);
          assertTrue(isWithin(inside.key(), lower, upper));
          CellModel.Entry other = random(random, generator);
          List<Bytes> otherParts =
              List.of(other.row(), other.family(), other.qualifier(), other.visibility());
          int depth =
              switch (other.type()) {
                case DELETE_ROW -> 1;
                case DELETE_FAMILY -> 2;
                default -> 4;
              };
          boolean same =
              depth >= count && otherParts.subList(0, count).equals(parts.subList(0, count));
          assertEquals(same, isWithin(other.key(), lower, upper), other + " in " + parts);
        });
  }

  private static boolean isWithin(byte[] key, byte[] lower, byte[] upper) {
    return Arrays.compareUnsigned(lower, key) <= 0 && Arrays.compareUnsigned(key, upper) < 0;
  }

  @Test
  void randomBytesAreRefusedOrDecodeToTheirOwnEncoding() {
    Seeds.run(
        300,
        random -> {
          for (int i = 0; i < 100; i++) {
            byte[] bytes = random(random, new RandomEntries(random, true)).key();
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
              bytes[random.nextInt(bytes.length)] = (byte) (random.nextInt(5) - 1);
            }
            byte[] key = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            try {
              KeyCodec.DecodedKey decoded = KeyCodec.decode(key);
              assertArrayEquals(
                  key,
                  KeyCodec.encode(
                      decoded.row(),
                      decoded.family(),
                      decoded.qualifier(),
                      decoded.visibility(),
                      decoded.timestamp(),
                      decoded.sequence(),
                      decoded.type()));
            } catch (MalformedBytesException e) {
              assertTrue(e.getMessage() != null);
            }
          }
        });
  }

  @Test
  void rowAfterIsTheNextRow() {
    Bytes row = Bytes.of("a");
    Bytes after = KeyCodec.rowAfter(row);
    assertEquals("6100", after.toHex());
    assertTrue(row.compareTo(after) < 0);
    assertThrows(MalformedBytesException.class, () -> KeyCodec.partLength(new byte[3], 0, 1));
  }
}
