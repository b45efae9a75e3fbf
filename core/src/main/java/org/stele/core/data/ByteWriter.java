package org.stele.core.data;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A growing byte array that numbers and byte strings are appended to; reused by {@link #clear()}.
 * Not thread-safe.
 */
public final class ByteWriter {
  /** The largest array that every JVM can make. */
  private static final int MAX_LENGTH = Integer.MAX_VALUE - 8;

  private byte[] array;
  private int length;

  public ByteWriter() {
    this(256);
  }

  public ByteWriter(int capacity) {
    array = new byte[capacity];
  }

  /** The array written to so far: valid up to {@link #length()}, until the next write. */
  public byte[] array() {
    return array;
  }

  public int length() {
    return length;
  }

  public void clear() {
    length = 0;
  }

  /** Forgets what was written after the first {@code newLength} bytes. */
  public void truncate(int newLength) {
    if (newLength < 0 || newLength > length) {
      throw new IllegalArgumentException("cannot truncate " + length + " bytes to " + newLength);
    }
    length = newLength;
  }

  public byte[] toByteArray() {
    return Arrays.copyOf(array, length);
  }

  public ByteWriter writeByte(int value) {
    ensure(1);
    array[length++] = (byte) value;
    return this;
  }

  public ByteWriter writeShort(int value) {
    return writeByte(value >>> 8).writeByte(value);
  }

  /** Four bytes, big-endian. */
  public ByteWriter writeInt(int value) {
    ensure(4);
    putInt(array, length, value);
    length += 4;
    return this;
  }

  /** Eight bytes, big-endian. */
  public ByteWriter writeLong(long value) {
    ensure(8);
    putLong(array, length, value);
    length += 8;
    return this;
  }

  /** Overwrites four bytes written before. */
  public void setInt(int position, int value) {
    if (position < 0 || position + 4 > length) {
      throw new IndexOutOfBoundsException(position);
    }
    putInt(array, position, value);
  }

  /** An unsigned LEB128 varint. */
  public ByteWriter writeVarint(int value) {
    return writeVarlong(value & 0xffff_ffffL);
  }

  public ByteWriter writeVarlong(long value) {
    ensure(10);
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      array[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    array[length++] = (byte) rest;
    return this;
  }

  public ByteWriter writeBytes(byte[] source) {
    return writeBytes(source, 0, source.length);
  }

  public ByteWriter writeBytes(byte[] source, int offset, int count) {
    ensure(count);
    System.arraycopy(source, offset, array, length, count);
    length += count;
    return this;
  }

  /** What is left in the buffer, whose position moves to its end. */
  public ByteWriter writeBuffer(ByteBuffer source) {
    int count = source.remaining();
    ensure(count);
    source.get(array, length, count);
    length += count;
    return this;
  }

  /** A varint length and the bytes. */
  public ByteWriter writeByteString(byte[] source, int offset, int count) {
    return writeVarint(count).writeBytes(source, offset, count);
  }

  public ByteWriter writeByteString(byte[] source) {
    return writeByteString(source, 0, source.length);
  }

  /** A varint length and the UTF-8 bytes of a text. */
  public ByteWriter writeUtf8String(String text) {
    int count = text.length();
    ensure(5 + count);
    int begin = length;
    writeVarint(count);
    for (int i = 0; i < count; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) { // not as short as it seemed
        length = begin;
        return writeByteString(text.getBytes(UTF_8));
      }
      array[length++] = (byte) c;
    }
    return this;
  }

  public static void putInt(byte[] target, int offset, int value) {
    target[offset] = (byte) (value >>> 24);
    target[offset + 1] = (byte) (value >>> 16);
    target[offset + 2] = (byte) (value >>> 8);
    target[offset + 3] = (byte) value;
  }

  public static void putLong(byte[] target, int offset, long value) {
    putInt(target, offset, (int) (value >>> 32));
    putInt(target, offset + 4, (int) value);
  }

  private void ensure(int more) {
    if (more > array.length - length) {
      long wanted = (long) length + more;
      if (wanted > MAX_LENGTH) {
        throw new IllegalStateException(wanted + " bytes do not fit an array");
      }
      array = Arrays.copyOf(array, (int) Math.min(MAX_LENGTH, Math.max(wanted, 2L * array.length)));
    }
  }
}
