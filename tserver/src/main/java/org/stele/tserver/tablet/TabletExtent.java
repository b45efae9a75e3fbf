package org.stele.tserver.tablet;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.KeyCodec;

/** Rows above {@code previousEndRow}, up to and with {@code endRow}; a null end is open. */
public record TabletExtent(String tableId, @Nullable Bytes previousEndRow, @Nullable Bytes endRow) {
  public TabletExtent {
    if (previousEndRow != null && endRow != null && previousEndRow.compareTo(endRow) >= 0) {
      throw new IllegalArgumentException(
          "an extent above " + previousEndRow + " up to " + endRow + " has no rows");
    }
  }

  public boolean contains(Bytes row) {
    return contains(row.unsafeArray(), 0, row.length());
  }

  public boolean contains(byte[] row, int offset, int length) {
    return (previousEndRow == null || compare(row, offset, length, previousEndRow) > 0)
        && (endRow == null || compare(row, offset, length, endRow) <= 0);
  }

  static int compare(byte[] row, int offset, int length, Bytes other) {
    return Arrays.compareUnsigned(
        row, offset, offset + length, other.unsafeArray(), 0, other.length());
  }

  /** The encoded key at or before the first cell of the extent. */
  public byte[] lowerKey() {
    return previousEndRow == null ? new byte[0] : KeyCodec.upperBound(previousEndRow);
  }

  /** The encoded key after the last cell of the extent; null if open. */
  public byte @Nullable [] upperKey() {
    return endRow == null ? null : KeyCodec.upperBound(endRow);
  }
}
