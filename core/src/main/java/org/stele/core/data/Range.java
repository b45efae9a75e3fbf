package org.stele.core.data;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The cells between two bounds; a null bound is open.
 *
 * @param start null: from the first cell on
 * @param stop null: up to the last cell
 */
public record Range(@Nullable Bound start, @Nullable Bound stop) {
  private static final Range ALL = new Range(null, null);

  /**
   * @throws IllegalArgumentException if the start lies after the stop
   */
  public Range {
    if (start != null && stop != null && Arrays.compareUnsigned(start.before(), stop.after()) > 0) {
      throw new IllegalArgumentException(
          "the range starts after its stop: " + start + " to " + stop);
    }
  }

  public static Range all() {
    return ALL;
  }

  public static Range row(Bytes row) {
    return new Range(Bound.row(row, true), Bound.row(row, true));
  }

  public static Range row(String row) {
    return row(Bytes.of(row));
  }

  /** All rows that begin with {@code prefix}. */
  public static Range prefix(Bytes prefix) {
    byte[] successor = prefixSuccessor(prefix.unsafeArray());
    return new Range(
        prefix.isEmpty() ? null : Bound.row(prefix, true),
        successor == null ? null : Bound.row(Bytes.wrap(successor), false));
  }

  public static Range prefix(String prefix) {
    return prefix(Bytes.of(prefix));
  }

  /** Rows from {@code start} (with it) up to {@code stop} (without it); null is open. */
  public static Range rows(@Nullable Bytes start, @Nullable Bytes stop) {
    return rows(start, true, stop, false);
  }

  public static Range rows(
      @Nullable Bytes start, boolean startInclusive, @Nullable Bytes stop, boolean stopInclusive) {
    return new Range(
        start == null ? null : Bound.row(start, startInclusive),
        stop == null ? null : Bound.row(stop, stopInclusive));
  }

  public static Range rows(String start, String stop) {
    return rows(Bytes.of(start), Bytes.of(stop));
  }

  /** All cells of one column family or column of a row. */
  public static Range column(Bytes row, Column column) {
    Bytes qualifier = column.qualifier();
    java.util.List<Bytes> parts =
        qualifier == null
            ? java.util.List.of(row, column.family())
            : java.util.List.of(row, column.family(), qualifier);
    return new Range(new Bound(parts, null, true), new Bound(parts, null, true));
  }

  /** The encoded key that is at or before the first cell of the range; empty if open. */
  public byte[] lowerKey() {
    if (start == null) {
      return Bytes.EMPTY.unsafeArray();
    }
    return start.inclusive() ? start.before() : start.after();
  }

  /** The encoded key that is after the last cell of the range and not in it; null if open. */
  public byte @Nullable [] upperKey() {
    if (stop == null) {
      return null;
    }
    return stop.inclusive() ? stop.after() : stop.before();
  }

  /** The smallest byte string above all that begin with {@code prefix}; null if there is none. */
  private static byte @Nullable [] prefixSuccessor(byte[] prefix) {
    for (int i = prefix.length - 1; i >= 0; i--) {
      if (prefix[i] != (byte) 0xff) {
        byte[] successor = Arrays.copyOf(prefix, i + 1);
        successor[i]++;
        return successor;
      }
    }
    return null;
  }

  /**
   * The first row that can be in the range; null if open. A range that leaves out a whole row
   * begins behind it, which can be in another tablet.
   */
  public @Nullable Bytes startRow() {
    if (start == null) {
      return null;
    }
    boolean leavesRowOut = start.parts().size() == 1 && !start.inclusive();
    return leavesRowOut ? KeyCodec.rowAfter(start.row()) : start.row();
  }

  @Override
  public String toString() {
    return "[" + Objects.toString(start, "…") + ", " + Objects.toString(stop, "…") + "]";
  }
}
