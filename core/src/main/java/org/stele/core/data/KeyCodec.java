package org.stele.core.data;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Encodes the key of a cell as bytes whose unsigned order is the order of cells: row, family,
 * qualifier and visibility ascending, then timestamp descending, then sequence descending.
 * Memtables, blocks, indexes, logs and ranges hold keys in this form only, so that one {@link
 * Arrays#compareUnsigned(byte[], byte[])} compares them.
 *
 * <pre>
 *   key        = part(row) part(family) part(qualifier) part(visibility) trailer    a cell
 *              | part(row) part(family) 00 00 trailer                               a family delete
 *              | part(row) 00 00 trailer                                            a row delete
 *   part(p)    = p with each 00 written as 00 ff, then 00 01
 *   trailer    = inverted timestamp (8)  inverted sequence (8)  type (1)
 * </pre>
 *
 * (In the delete keys the scope's last part ends with {@code 00 00} instead of {@code 00 01}, so
 * that they come before all cells of their scope.) The inverted timestamp is {@code timestamp ^
 * Long.MAX_VALUE}: all values of a long in descending order. The inverted sequence is {@code
 * ~sequence}: unsigned, descending. Numbers are big-endian.
 *
 * <p>A prefix of an encoded key up to the end of a part, with {@code 00} in place of the {@code
 * 01}, is at or before every key of that scope; with {@code 02} it is after all of them (design
 * §2).
 */
public final class KeyCodec {
  /** Timestamp, sequence and type at the end of each key. */
  public static final int TRAILER_LENGTH = 17;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final byte ESCAPED_ZERO = (byte) 0xff;
  private static final byte SCOPE_START = 0;
  private static final byte PART_END = 1;
  private static final byte SCOPE_END = 2;

  private KeyCodec() {}

  /** Appends a part and its end. */
  public static void writePart(ByteWriter out, byte[] part, int offset, int length) {
    writeEscaped(out, part, offset, length);
    out.writeByte(0).writeByte(PART_END);
  }

  public static void writePart(ByteWriter out, Bytes part) {
    writePart(out, part.unsafeArray(), 0, part.length());
  }

  /** Appends timestamp, sequence and type. */
  public static void writeTrailer(ByteWriter out, long timestamp, long sequence, CellType type) {
    out.writeLong(timestamp ^ Long.MAX_VALUE).writeLong(~sequence).writeByte(type.code());
  }

  /**
   * A whole key. For {@link CellType#DELETE_FAMILY} qualifier and visibility, for {@link
   * CellType#DELETE_ROW} the family too, are not looked at.
   */
  public static byte[] encode(
      Bytes row,
      Bytes family,
      Bytes qualifier,
      Bytes visibility,
      long timestamp,
      long sequence,
      CellType type) {
    ByteWriter out =
        new ByteWriter(
            row.length()
                + family.length()
                + qualifier.length()
                + visibility.length()
                + 8
                + TRAILER_LENGTH);
    writeKey(out, row, family, qualifier, visibility, timestamp, sequence, type);
    return out.length() == out.array().length ? out.array() : out.toByteArray();
  }

  /**
   * The length of what {@link #encode} gives.
   *
   * @param rowPartLength {@link #partLength(Bytes)} of the row
   */
  public static int encodedLength(
      int rowPartLength, Bytes family, Bytes qualifier, Bytes visibility, CellType type) {
    int length = rowPartLength + TRAILER_LENGTH;
    return switch (type) {
      case DELETE_ROW -> length;
      case DELETE_FAMILY -> length + partLength(family);
      default -> length + partLength(family) + partLength(qualifier) + partLength(visibility);
    };
  }

  /** The length of a part when it is encoded, its end included. */
  public static int partLength(Bytes part) {
    int length = part.length() + 2;
    for (byte b : part.unsafeArray()) {
      if (b == 0) {
        length++;
      }
    }
    return length;
  }

  /** Appends what {@link #encode} gives. */
  public static void writeKey(
      ByteWriter out,
      Bytes row,
      Bytes family,
      Bytes qualifier,
      Bytes visibility,
      long timestamp,
      long sequence,
      CellType type) {
    writePart(out, row);
    switch (type) {
      case DELETE_ROW -> endScope(out);
      case DELETE_FAMILY -> {
        writePart(out, family);
        endScope(out);
      }
      default -> {
        writePart(out, family);
        writePart(out, qualifier);
        writePart(out, visibility);
      }
    }
    writeTrailer(out, timestamp, sequence, type);
  }

  private static void endScope(ByteWriter out) {
    out.truncate(out.length() - 1);
    out.writeByte(SCOPE_START);
  }

  /**
   * At or before the first key whose leading parts are {@code parts}, and after every key before
   * those.
   */
  public static byte[] lowerBound(Bytes... parts) {
    return bound(SCOPE_START, parts);
  }

  /**
   * After the last key whose leading parts are {@code parts}, and at or before every key after
   * those.
   */
  public static byte[] upperBound(Bytes... parts) {
    return bound(SCOPE_END, parts);
  }

  private static byte[] bound(byte end, Bytes... parts) {
    ByteWriter out = new ByteWriter();
    for (Bytes part : parts) {
      writePart(out, part);
    }
    out.truncate(out.length() - 1);
    out.writeByte(end);
    return out.toByteArray();
  }

  /** The smallest row greater than {@code row}: the same with a zero byte behind it. */
  public static Bytes rowAfter(Bytes row) {
    return Bytes.wrap(Arrays.copyOf(row.unsafeArray(), row.length() + 1));
  }

  /**
   * The length of the first part of an encoded key, its end included.
   *
   * @throws MalformedBytesException if the part has no end
   */
  public static int partLength(byte[] key, int offset, int limit) {
    for (int i = offset; i < limit - 1; i++) {
      if (key[i] == 0) {
        if (key[i + 1] != ESCAPED_ZERO) {
          return i + 2 - offset;
        }
        i++;
      }
    }
    throw new MalformedBytesException("a key part has no end");
  }

  /** Decodes a part whose end is included in {@code length}. */
  public static Bytes decodePart(byte[] key, int offset, int length) {
    ByteWriter out = new ByteWriter(length);
    unescape(out, key, offset, length - 2);
    return Bytes.wrap(out.length() == out.array().length ? out.array() : out.toByteArray());
  }

  /**
   * Appends {@code length} escaped bytes (without the end of the part) as they were before
   * escaping.
   */
  public static void unescape(ByteWriter out, byte[] key, int offset, int length) {
    int end = offset + length;
    int from = offset;
    for (int i = offset; i < end; i++) {
      if (key[i] == 0) {
        out.writeBytes(key, from, i + 1 - from);
        i++; // the 0xff that stands behind each zero
        from = i + 1;
      }
    }
    out.writeBytes(key, from, end - from);
  }

  public static long timestamp(byte[] key, int offset, int length) {
    return getLong(key, offset + length - TRAILER_LENGTH) ^ Long.MAX_VALUE;
  }

  public static long sequence(byte[] key, int offset, int length) {
    return ~getLong(key, offset + length - 9);
  }

  public static byte typeCode(byte[] key, int offset, int length) {
    return key[offset + length - 1];
  }

  /** Puts a timestamp into a key that was encoded before it was known. */
  public static void setTimestamp(byte[] key, int offset, int length, long timestamp) {
    ByteWriter.putLong(key, offset + length - TRAILER_LENGTH, timestamp ^ Long.MAX_VALUE);
  }

  /** Puts a sequence into a key that was encoded before it was known. */
  public static void setSequence(byte[] key, int offset, int length, long sequence) {
    ByteWriter.putLong(key, offset + length - 9, ~sequence);
  }

  /** Decodes a whole key. */
  public static DecodedKey decode(byte[] key, int offset, int length) {
    int limit = offset + length;
    if (length < TRAILER_LENGTH + 2) {
      throw new MalformedBytesException("a key of " + length + " bytes is too short");
    }
    int partsEnd = limit - TRAILER_LENGTH;
    Bytes[] parts = {Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY};
    int count = 0;
    int at = offset;
    boolean scopeEnded = false;
    while (at < partsEnd) {
      int partLength = partLength(key, at, partsEnd);
      byte end = key[at + partLength - 1];
      if (scopeEnded || count == parts.length || (end != PART_END && end != SCOPE_START)) {
        throw new MalformedBytesException("malformed end of key part " + count);
      }
      parts[count++] = decodePart(key, at, partLength);
      at += partLength;
      scopeEnded = end == SCOPE_START;
    }
    CellType type = CellType.ofCode(typeCode(key, offset, length));
    int expected =
        switch (type) {
          case DELETE_ROW -> 1;
          case DELETE_FAMILY -> 2;
          default -> 4;
        };
    if (count != expected || scopeEnded != (expected != 4)) {
      throw new MalformedBytesException("a key of type " + type + " with " + count + " parts");
    }
    return new DecodedKey(
        parts[0],
        parts[1],
        parts[2],
        parts[3],
        timestamp(key, offset, length),
        sequence(key, offset, length),
        type);
  }

  public static DecodedKey decode(byte[] key) {
    return decode(key, 0, key.length);
  }

  private static long getLong(byte[] source, int offset) {
    return (long) LONG.get(source, offset);
  }

  private static void writeEscaped(ByteWriter out, byte[] part, int offset, int length) {
    int end = offset + length;
    int from = offset;
    for (int i = offset; i < end; i++) {
      if (part[i] == 0) {
        out.writeBytes(part, from, i + 1 - from);
        out.writeByte(ESCAPED_ZERO);
        from = i + 1;
      }
    }
    out.writeBytes(part, from, end - from);
  }

  /** The parts of a key; parts outside the scope of a family or row delete are empty. */
  public record DecodedKey(
      Bytes row,
      Bytes family,
      Bytes qualifier,
      Bytes visibility,
      long timestamp,
      long sequence,
      CellType type) {}
}
