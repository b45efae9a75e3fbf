package org.stele.core.data;

import java.util.Arrays;
import java.util.Objects;

/**
 * Reads numbers and byte strings from a part of an array. Every length is compared with the bytes
 * that are left before anything is reserved, so lying lengths cost nothing. Not thread-safe.
 *
 * <p>All methods throw {@link MalformedBytesException} if the bytes end too early or a number is
 * malformed.
 */
public final class ByteReader {
  private byte[] array = Bytes.EMPTY.unsafeArray();
  private int position;
  private int limit;

  public ByteReader() {}

  public ByteReader(byte[] array) {
    this(array, 0, array.length);
  }

  public ByteReader(byte[] array, int offset, int length) {
    reset(array, offset, length);
  }

  public void reset(byte[] newArray, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, newArray.length);
    array = newArray;
    position = offset;
    limit = offset + length;
  }

  public byte[] array() {
    return array;
  }

  public int position() {
    return position;
  }

  public int remaining() {
    return limit - position;
  }

  public boolean hasRemaining() {
    return position < limit;
  }

  public byte readByte() {
    require(1);
    return array[position++];
  }

  public int readUnsignedByte() {
    return readByte() & 0xff;
  }

  public int readUnsignedShort() {
    return readUnsignedByte() << 8 | readUnsignedByte();
  }

  /** Four bytes, big-endian. */
  public int readInt() {
    require(4);
    int value =
        (array[position] & 0xff) << 24
            | (array[position + 1] & 0xff) << 16
            | (array[position + 2] & 0xff) << 8
            | (array[position + 3] & 0xff);
    position += 4;
    return value;
  }

  /** Eight bytes, big-endian. */
  public long readLong() {
    return (long) readInt() << 32 | (readInt() & 0xffff_ffffL);
  }

  /** An unsigned varint of at most five bytes that fits a non-negative int. */
  public int readVarint() {
    long value = readVarlong();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw new MalformedBytesException(
          "number " + Long.toUnsignedString(value) + " at " + position + " is too large");
    }
    return (int) value;
  }

  /** An unsigned LEB128 varint of at most ten bytes. */
  public long readVarlong() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte b = readByte();
      value |= (long) (b & 0x7f) << shift;
      if (b >= 0) {
        return value;
      }
    }
    throw new MalformedBytesException("number before " + position + " has more than ten bytes");
  }

  /** A varint length, checked against what is left. */
  public int readLength() {
    int length = readVarint();
    require(length);
    return length;
  }

  /** A varint length and that many bytes, copied. */
  public byte[] readByteString() {
    return readBytes(readLength());
  }

  public byte[] readBytes(int length) {
    require(length);
    byte[] copy = Arrays.copyOfRange(array, position, position + length);
    position += length;
    return copy;
  }

  public void skip(int length) {
    require(length);
    position += length;
  }

  private void require(int length) {
    if (length < 0 || length > limit - position) {
      throw new MalformedBytesException(
          length + " bytes wanted at " + position + ", " + (limit - position) + " are left");
    }
  }
}
