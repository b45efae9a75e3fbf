package org.stele.tserver.read;

import java.util.Arrays;

/** Where a read goes on: the encoded key that the next batch seeks. */
public final class ResumeKey {
  private static final byte SCOPE_END = 2;

  private ResumeKey() {}

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

  /** After all of a row. */
  public static byte[] afterRow(byte[] row, int length) {
    byte[] after = Arrays.copyOf(row, length);
    after[length - 1] = SCOPE_END;
    return after;
  }
}
