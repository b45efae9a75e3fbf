package org.stele.core.cursor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.KeyCodec;

/**
 * The columns of a row that a reader wants, as ranges of what stands behind the row in encoded
 * keys, ascending and apart. Immutable.
 */
final class ColumnFilter {
  private final byte[][] lowers;
  private final byte[][] uppers;

  /**
   * @param familyDeletes whether the deletes of a column's family are wanted too
   */
  ColumnFilter(List<Column> columns, boolean familyDeletes) {
    List<byte[][]> ranges = new ArrayList<>();
    for (Column column : columns) {
      Bytes qualifier = column.qualifier();
      if (qualifier == null) {
        ranges.add(range(column.family()));
        continue;
      }
      ranges.add(range(column.family(), qualifier));
      if (familyDeletes) {
        byte[] lower = KeyCodec.lowerBound(column.family());
        byte[] upper = lower.clone();
        upper[upper.length - 1]++;
        ranges.add(new byte[][] {lower, upper});
      }
    }
    ranges.sort(Comparator.comparing(range -> range[0], Arrays::compareUnsigned));
    List<byte[][]> apart = new ArrayList<>();
    for (byte[][] range : ranges) {
      byte[][] last = apart.isEmpty() ? null : apart.get(apart.size() - 1);
      if (last == null || Arrays.compareUnsigned(last[1], range[0]) < 0) {
        apart.add(range.clone());
      } else if (Arrays.compareUnsigned(last[1], range[1]) < 0) {
        last[1] = range[1];
      }
    }
    lowers = apart.stream().map(range -> range[0]).toArray(byte[][]::new);
    uppers = apart.stream().map(range -> range[1]).toArray(byte[][]::new);
  }

  private static byte[][] range(Bytes... parts) {
    return new byte[][] {KeyCodec.lowerBound(parts), KeyCodec.upperBound(parts)};
  }

  int count() {
    return lowers.length;
  }

  /** The first range that ends after what stands behind the row; {@link #count()} if none does. */
  int firstEndingAfter(byte[] key, int from, int to) {
    int range = 0;
    while (range < uppers.length
        && Arrays.compareUnsigned(uppers[range], 0, uppers[range].length, key, from, to) <= 0) {
      range++;
    }
    return range;
  }

  /** Whether a range begins at or before what stands behind the row. */
  boolean beginsBefore(int range, byte[] key, int from, int to) {
    return Arrays.compareUnsigned(lowers[range], 0, lowers[range].length, key, from, to) <= 0;
  }

  /** The key where a range begins in a row; after the row if there is no such range. */
  byte[] start(int range, byte[] key, int rowOffset, int rowLength) {
    ByteWriter out = new ByteWriter(rowLength + 64);
    out.writeBytes(key, rowOffset, rowLength - 1);
    if (range == lowers.length) {
      out.writeByte(2);
    } else {
      out.writeByte(1).writeBytes(lowers[range]);
    }
    return out.toByteArray();
  }
}
