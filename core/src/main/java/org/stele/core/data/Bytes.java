package org.stele.core.data;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * An immutable byte string, ordered by unsigned bytes: {@code "" < 00 < 00 00 < 7f < 80 < ff}.
 *
 * <p>Empty is a value of its own and is never used for "absent".
 */
public final class Bytes implements Comparable<Bytes> {
  public static final Bytes EMPTY = new Bytes(new byte[0]);

  private final byte[] array;

  private Bytes(byte[] array) {
    this.array = array;
  }

  /** The UTF-8 bytes of {@code text}. */
  public static Bytes of(String text) {
    return wrap(text.getBytes(UTF_8));
  }

  /** A copy of {@code array}. */
  public static Bytes of(byte[] array) {
    return wrap(array.clone());
  }

  /** A copy of {@code length} bytes from {@code offset}. */
  public static Bytes of(byte[] array, int offset, int length) {
    return length == 0 ? EMPTY : new Bytes(Arrays.copyOfRange(array, offset, offset + length));
  }

  /** A copy of what remains in {@code buffer}, whose position does not change. */
  public static Bytes of(ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return wrap(copy);
  }

  /** Takes {@code array} over without a copy: the caller must not change it any more. */
  public static Bytes wrap(byte[] array) {
    requireNonNull(array, "array is null");
    return array.length == 0 ? EMPTY : new Bytes(array);
  }

  public int length() {
    return array.length;
  }

  public boolean isEmpty() {
    return array.length == 0;
  }

  public byte at(int index) {
    return array[index];
  }

  public byte[] toArray() {
    return array.clone();
  }

  /** The bytes themselves, not a copy: the caller must not change them. */
  public byte[] unsafeArray() {
    return array;
  }

  /** A read-only view of the bytes. */
  public ByteBuffer toByteBuffer() {
    return ByteBuffer.wrap(array).asReadOnlyBuffer();
  }

  public boolean startsWith(Bytes prefix) {
    return array.length >= prefix.array.length
        && Arrays.equals(array, 0, prefix.array.length, prefix.array, 0, prefix.array.length);
  }

  @Override
  public int compareTo(Bytes other) {
    return Arrays.compareUnsigned(array, other.array);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Bytes bytes && Arrays.equals(array, bytes.array);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(array);
  }

  /**
   * The bytes read as UTF-8; malformed input is replaced, so this is for text that is known to be
   * text.
   */
  public String toUtf8() {
    return new String(array, UTF_8);
  }

  public String toHex() {
    return HexFormat.of().formatHex(array);
  }

  /**
   * The bytes as text with {@code \xNN} for what is not printable ASCII, and {@code \\} for a
   * backslash.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(array.length);
    for (byte b : array) {
      int c = b & 0xff;
      if (c == '\\') {
        text.append("\\\\");
      } else if (c >= 0x20 && c < 0x7f) {
        text.append((char) c);
      } else {
        text.append("\\x").append(HexFormat.of().toHexDigits(b));
      }
    }
    return text.toString();
  }
}
