package org.stele.core.cursor;

import java.util.Arrays;

/**
 * The deletes of one row, or of one family of a row, that a cursor has met. They come with falling
 * timestamps; one that hides nothing which another does not hide is not kept, so sequences rise.
 * Not thread-safe.
 */
final class DeleteMarkers {
  /** The encoded row, or row and family, without the last byte of its end. */
  private byte[] scope = new byte[0];

  private int scopeLength;
  private long[] timestamps = new long[2];
  private long[] sequences = new long[2];
  private int count;

  boolean isEmpty() {
    return count == 0;
  }

  void clear() {
    count = 0;
  }

  /**
   * Adds the delete with this key.
   *
   * @param partsLength length of the key without its trailer
   */
  void add(byte[] key, int offset, int partsLength, long timestamp, long sequence) {
    int length = partsLength - 1;
    if (count == 0) {
      if (scope.length < length) {
        scope = new byte[Math.max(length, 64)];
      }
      System.arraycopy(key, offset, scope, 0, length);
      scopeLength = length;
    } else if (count == timestamps.length) {
      timestamps = Arrays.copyOf(timestamps, count * 2);
      sequences = Arrays.copyOf(sequences, count * 2);
    }
    timestamps[count] = timestamp;
    sequences[count] = sequence;
    count++;
  }

  /** Whether keys that begin with these parts are of the scope of the deletes. */
  boolean covers(byte[] key, int offset, int partsLength) {
    return partsLength > scopeLength
        && key[offset + scopeLength] != (byte) 0xff
        && Arrays.equals(scope, 0, scopeLength, key, offset, offset + scopeLength);
  }

  /** Whether a cell, or another delete, of the scope is hidden. */
  boolean hides(long timestamp, long sequence) {
    for (int i = count - 1; i >= 0; i--) {
      if (timestamps[i] >= timestamp) {
        return Long.compareUnsigned(sequences[i], sequence) > 0;
      }
    }
    return false;
  }
}
