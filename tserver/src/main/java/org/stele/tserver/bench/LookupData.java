package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;

/**
 * The rows of the lookup benchmark: random keys of 16 hex digits, each with 4 cells in family
 * {@code fam1}, qualifiers of 3 hex digits and values of 16. The same seed gives the same rows.
 * Immutable.
 */
final class LookupData {
  static final int CELLS = 4;
  static final int TABLETS = 16;

  private static final HexFormat HEX = HexFormat.of();
  private static final Bytes FAMILY = Bytes.of("fam1");
  private static final int QUALIFIERS = 0x1000;

  private final Bytes[] rows;
  private final long seed;

  LookupData(int count, long seed) {
    this.seed = seed;
    SplittableRandom random = new SplittableRandom(seed);
    TreeSet<Bytes> distinct = new TreeSet<>();
    List<Bytes> inOrderOfChance = new ArrayList<>(count);
    while (inOrderOfChance.size() < count) {
      Bytes row = randomRow(random);
      if (distinct.add(row)) {
        inOrderOfChance.add(row);
      }
    }
    rows = inOrderOfChance.toArray(Bytes[]::new);
  }

  /** A row of 16 random hex digits; of all there can be, one that exists is hardly ever met. */
  static Bytes randomRow(SplittableRandom random) {
    return Bytes.wrap(HEX.toHexDigits(random.nextLong()).getBytes(ISO_8859_1));
  }

  int size() {
    return rows.length;
  }

  Bytes row(int index) {
    return rows[index];
  }

  /** Where the table is cut: at each first hex digit. */
  static List<Bytes> splits() {
    List<Bytes> splits = new ArrayList<>();
    for (int digit = 1; digit < TABLETS; digit++) {
      splits.add(Bytes.of(Integer.toHexString(digit)));
    }
    return splits;
  }

  /** The cells of a row. */
  Mutation mutation(int index) {
    SplittableRandom random = new SplittableRandom(seed + 31L * index + 1);
    TreeSet<Integer> qualifiers = new TreeSet<>();
    while (qualifiers.size() < CELLS) {
      qualifiers.add(random.nextInt(QUALIFIERS));
    }
    Mutation mutation = Mutation.of(rows[index]);
    for (int qualifier : qualifiers) {
      mutation.put(
          FAMILY,
          Bytes.of(HEX.toHexDigits(qualifier, 3)),
          Bytes.of(HEX.toHexDigits(random.nextLong())));
    }
    return mutation;
  }
}
