package org.stele.tserver.read;

import java.util.Arrays;
import org.stele.core.data.KeyCodec;

/** Where a read goes on: the encoded key that the next batch seeks. */
public final class ResumeKey {
  private static final byte SCOPE_END = 2;

  private ResumeKey() {}

  /** A key itself: the next batch has to look at it. */
  public static byte[] at(byte[] key, int offset, int length) {
    return Arrays.copyOfRange(key, offset, offset + length);
  }

  /** The smallest byte string after a key. */
  public static byte[] after(byte[] key, int offset, int length) {
    byte[] after = new byte[length + 1];
    System.arraycopy(key, offset, after, 0, length);
    return after;
  }

  /**
   * Before all of a row.
   *
   * @param row encoded, with its end
   */
  public static byte[] beforeRow(byte[] row, int length) {
    byte[] before = Arrays.copyOf(row, length);
    before[length - 1] = 0;
    return before;
  }

  /**
   * Whether two keys are of one row.
   *
   * @param key its encoded parts, with or without what is behind them
   */
  public static boolean areOfOneRow(byte[] key, byte[] other) {
    int length = KeyCodec.partLength(key, 0, key.length);
    return isOfRow(key, length, other);
  }

  /**
   * Whether a key is of a row. The last byte of a row's end tells deletes of the row from its
   * cells, not rows apart.
   *
   * @param row encoded, with its end
   */
  public static boolean isOfRow(byte[] row, int length, byte[] key) {
    return key.length >= length
        && key[length - 1] != (byte) 0xff
        && Arrays.equals(row, 0, length - 1, key, 0, length - 1);
  }

  /** After all of a row. */
  public static byte[] afterRow(byte[] row, int length) {
    byte[] after = Arrays.copyOf(row, length);
    after[length - 1] = SCOPE_END;
    return after;
  }
}
