package org.stele.core.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.stele.core.data.DataLimits;
import org.stele.core.data.LimitException;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Mutation;
import org.stele.core.data.RandomEntries;
import org.stele.core.data.Update;

/** Packed cells and mutations: what was packed comes out, and nothing else makes trouble. */
class PackedTest {
  private static byte[] pack(PackedCellsWriter writer, List<CellModel.Entry> entries) {
    writer.clear();
    for (CellModel.Entry entry : entries) {
      byte[] key = entry.key();
      byte[] value = entry.value().toArray();
      writer.add(key, 0, key.length, value, 0, value.length);
    }
    return Arrays.copyOf(writer.array(), writer.length());
  }

  private static List<CellModel.Entry> puts(Random random) {
    return new RandomEntries(random, false)
        .history(random.nextInt(100), random.nextLong()).stream()
            .map(entry -> withTime(entry, random.nextInt(3) == 0 ? random.nextLong() : 5))
            .toList();
  }

  private static CellModel.Entry withTime(CellModel.Entry entry, long timestamp) {
    return new CellModel.Entry(
        entry.row(),
        entry.family(),
        entry.qualifier(),
        entry.visibility(),
        timestamp,
        entry.sequence(),
        CellType.PUT,
        entry.value());
  }

  @Test
  void cellsComeOutAsTheyWere() {
    PackedCellsWriter writer = new PackedCellsWriter();
    Seeds.run(
        300,
        random -> {
          List<CellModel.Entry> entries = puts(random);
          byte[] packed = pack(writer, entries);
          assertEquals(entries.size(), writer.cells());
          List<Cell> expected =
              entries.stream()
                  .map(
                      e ->
                          new Cell(
                              e.row(),
                              e.family(),
                              e.qualifier(),
                              e.visibility(),
                              e.timestamp(),
                              e.value()))
                  .toList();
          assertEquals(expected, PackedCells.decode(packed, 0, packed.length));
        });
  }

  @Test
  void damagedCellsAreRefusedOrAreOtherCells() {
    PackedCellsWriter writer = new PackedCellsWriter();
    Seeds.run(
        500,
        random -> {
          byte[] packed = pack(writer, puts(random));
          byte[] damaged = damage(random, packed);
          try {
            List<Cell> cells = PackedCells.decode(damaged, 0, damaged.length);
            assertTrue(cells.size() <= damaged.length);
          } catch (MalformedBytesException e) {
            assertTrue(e.getMessage() != null);
          }
        });
  }

  private static byte[] damage(Random random, byte[] whole) {
    byte[] damaged = Arrays.copyOf(whole, random.nextInt(whole.length + 4));
    for (int flips = random.nextInt(4); flips > 0 && damaged.length > 0; flips--) {
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
    }
    return damaged;
  }

  private static List<Mutation> mutations(Random random) {
    RandomEntries generator = new RandomEntries(random, true);
    List<Mutation> mutations = new ArrayList<>();
    for (int i = random.nextInt(10); i > 0; i--) {
      Mutation mutation = Mutation.of(generator.row());
      for (CellModel.Entry entry : generator.history(random.nextInt(10), 1)) {
        Long timestamp = random.nextBoolean() ? null : (Long) random.nextLong();
        mutation.add(
            new Update(
                entry.type(),
                entry.family(),
                entry.qualifier(),
                entry.visibility(),
                timestamp,
                entry.value()));
      }
      mutations.add(mutation);
    }
    return mutations;
  }

  @Test
  void mutationsComeOutAsTheyWere() {
    Seeds.run(
        300,
        random -> {
          List<Mutation> mutations = mutations(random);
          byte[] packed = PackedMutations.encode(mutations);
          List<Mutation> decoded = PackedMutations.decode(packed, 0, packed.length);
          assertEquals(mutations.size(), decoded.size());
          for (int i = 0; i < mutations.size(); i++) {
            assertEquals(mutations.get(i).row(), decoded.get(i).row());
            assertEquals(mutations.get(i).updates(), decoded.get(i).updates());
            assertEquals(mutations.get(i).bytes(), decoded.get(i).bytes());
          }
          assertArrayEquals(packed, PackedMutations.encode(decoded));
        });
  }

  @Test
  void damagedMutationsAreRefusedOrAreOtherMutations() {
    Seeds.run(
        500,
        random -> {
          byte[] damaged = damage(random, PackedMutations.encode(mutations(random)));
          try {
            List<Mutation> decoded = PackedMutations.decode(damaged, 0, damaged.length);
            assertTrue(decoded.size() <= damaged.length);
          } catch (MalformedBytesException | IllegalArgumentException e) {
            assertTrue(e.getMessage() != null);
          }
        });
  }

  @Test
  void aRowIsCountedWithEachOfItsUpdates() {
    List<Mutation> mutations = new ArrayList<>();
    for (int row = 0; row < 16; row++) {
      Mutation mutation = Mutation.of(Bytes.wrap(new byte[16 << 10]));
      for (int i = 0; i < 500; i++) {
        mutation.put("f", "", "");
      }
      mutations.add(mutation);
    }
    byte[] few = PackedMutations.encode(mutations.subList(0, 8));
    assertEquals(8, PackedMutations.decode(few, 0, few.length).size());
    byte[] many = PackedMutations.encode(mutations);
    assertTrue(many.length < 300_000, many.length + " bytes travel");
    String message =
        assertThrows(LimitException.class, () -> PackedMutations.decode(many, 0, many.length))
            .getMessage();
    assertTrue(message.contains(Long.toString(9 * mutations.get(0).bytes())), message);
    assertTrue(message.contains(Long.toString(DataLimits.MAX_WRITE_BYTES)), message);
  }

  @Test
  void newerVersionsAndLyingCountsAreRefused() {
    byte[] newer = {2, 0};
    assertThrows(MalformedBytesException.class, () -> PackedCells.decode(newer, 0, 2));
    assertThrows(MalformedBytesException.class, () -> PackedMutations.decode(newer, 0, 2));
    byte[] lying = {1, -1, -1, -1, -1, 7};
    assertThrows(MalformedBytesException.class, () -> PackedMutations.decode(lying, 0, 6));
    byte[] reservedType = PackedMutations.encode(List.of(Mutation.of("r").put("f", "q", "v")));
    reservedType[5] = CellType.DELETE_CELL.code();
    assertThrows(
        MalformedBytesException.class,
        () -> PackedMutations.decode(reservedType, 0, reservedType.length));
    assertThrows(IllegalArgumentException.class, () -> Mutation.of(Bytes.EMPTY));
  }
}
