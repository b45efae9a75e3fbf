package org.stele.core.data;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One side of a range. It stands for all cells that have the given parts; an inclusive bound takes
 * them in, an exclusive one leaves them out.
 *
 * @param parts row, family, qualifier, visibility: one to four of them, in this order
 * @param timestamp null, or with all four parts a timestamp
 */
public record Bound(List<Bytes> parts, @Nullable Long timestamp, boolean inclusive) {
  public Bound {
    parts = List.copyOf(parts);
    if (parts.isEmpty() || parts.size() > 4) {
      throw new IllegalArgumentException("a bound has one to four parts, not " + parts.size());
    }
    if (timestamp != null && parts.size() != 4) {
      throw new IllegalArgumentException(
          "a bound with a timestamp needs row, family, qualifier and visibility");
    }
  }

  public static Bound row(Bytes row, boolean inclusive) {
    return new Bound(List.of(row), null, inclusive);
  }

  public Bytes row() {
    return parts.get(0);
  }

  /** The encoded key at or before the first cell the bound names. */
  byte[] before() {
    return timestamp == null
        ? KeyCodec.lowerBound(parts.toArray(Bytes[]::new))
        : withTimestamp(timestamp);
  }

  /** The encoded key after the last cell the bound names, and at or before the next. */
  byte[] after() {
    if (timestamp == null || timestamp == Long.MIN_VALUE) {
      return KeyCodec.upperBound(parts.toArray(Bytes[]::new));
    }
    return withTimestamp(timestamp - 1);
  }

  private byte[] withTimestamp(long time) {
    ByteWriter out = new ByteWriter();
    for (Bytes part : parts) {
      KeyCodec.writePart(out, part);
    }
    return out.writeLong(time ^ Long.MAX_VALUE).toByteArray();
  }

  /** For people: its parts, the time if there is one, and whether it is exclusive. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (Bytes part : parts) {
      text.append(text.isEmpty() ? "'" : " '").append(part).append('\'');
    }
    if (timestamp != null) {
      text.append(" at ").append(timestamp);
    }
    return text.append(inclusive ? "" : " (exclusive)").toString();
  }
}
