package org.stele.core.sortedfile;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A blocked Bloom filter over rows: the upper half of a row's hash chooses a line of 64 bytes, the
 * lower half the bits within it, so that a probe touches one line of the processor's cache. The
 * lines are stored in pages that are read, checked and cached one by one.
 *
 * <p>The hash is XXH64 (seed 0) over the encoded row without its end. This class collects hashes
 * and makes the lines; not thread-safe.
 */
final class RowFilter {
  static final int LINE_BYTES = 64;
  static final int LINES_PER_PAGE = 512;
  static final int PAGE_BYTES = LINE_BYTES * LINES_PER_PAGE;

  /** Rows after which a section is closed, so that the hashes of a large file need not be kept. */
  static final int MAX_SECTION_ROWS = 4 << 20;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_1_PLUS_2 = 0x60EA27EEADC0B5D6L;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;

  /** Steps from one bit to the next: the fractional part of the golden ratio. */
  private static final int STEP = 0x9E3779B9;

  private final int bitsPerRow;
  private final int probes;
  private long[] hashes = new long[1024];
  private int count;

  RowFilter(int bitsPerRow) {
    this.bitsPerRow = bitsPerRow;
    this.probes = probes(bitsPerRow);
  }

  /** The number of bits per row that makes the fewest false positives. */
  static int probes(int bitsPerRow) {
    return Math.max(1, Math.min(16, (int) Math.round(bitsPerRow * 0.69)));
  }

  void add(long hash) {
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, count * 2);
    }
    hashes[count++] = hash;
  }

  int rows() {
    return count;
  }

  /** The lines for the rows added; the rows are forgotten. */
  byte[] finish() {
    int lines =
        (int) Math.max(1, ((long) count * bitsPerRow + LINE_BYTES * 8 - 1) / (LINE_BYTES * 8));
    byte[] bits = new byte[lines * LINE_BYTES];
    for (int i = 0; i < count; i++) {
      int base = line(hashes[i], lines) * LINE_BYTES;
      int h = (int) hashes[i];
      for (int probe = 0; probe < probes; probe++) {
        int bit = h >>> 23;
        bits[base + (bit >>> 3)] |= (byte) (1 << (bit & 7));
        h *= STEP;
      }
    }
    count = 0;
    return bits;
  }

  /** The line of a row in a section of {@code lines}. */
  static int line(long hash, int lines) {
    return (int) ((hash >>> 32) * lines >>> 32);
  }

  /** Whether all bits of a row are set in the line at {@code base}. */
  static boolean mayContain(byte[] page, int base, long hash, int probes) {
    int h = (int) hash;
    for (int probe = 0; probe < probes; probe++) {
      int bit = h >>> 23;
      if ((page[base + (bit >>> 3)] & 1 << (bit & 7)) == 0) {
        return false;
      }
      h *= STEP;
    }
    return true;
  }

  /** XXH64 with seed 0. */
  static long hash(byte[] bytes, int offset, int length) {
    int at = offset;
    int end = offset + length;
    long h;
    if (length >= 32) {
      long v1 = PRIME_1_PLUS_2;
      long v2 = PRIME_2;
      long v3 = 0;
      long v4 = -PRIME_1;
      do {
        v1 = round(v1, (long) LONG.get(bytes, at));
        v2 = round(v2, (long) LONG.get(bytes, at + 8));
        v3 = round(v3, (long) LONG.get(bytes, at + 16));
        v4 = round(v4, (long) LONG.get(bytes, at + 24));
        at += 32;
      } while (at <= end - 32);
      h =
          Long.rotateLeft(v1, 1)
              + Long.rotateLeft(v2, 7)
              + Long.rotateLeft(v3, 12)
              + Long.rotateLeft(v4, 18);
      h = merge(merge(merge(merge(h, v1), v2), v3), v4);
    } else {
      h = PRIME_5;
    }
    h += length;
    for (; at <= end - 8; at += 8) {
      h = Long.rotateLeft(h ^ round(0, (long) LONG.get(bytes, at)), 27) * PRIME_1 + PRIME_4;
    }
    if (at <= end - 4) {
      h ^= ((int) INT.get(bytes, at) & 0xffff_ffffL) * PRIME_1;
      h = Long.rotateLeft(h, 23) * PRIME_2 + PRIME_3;
      at += 4;
    }
    for (; at < end; at++) {
      h = Long.rotateLeft(h ^ (bytes[at] & 0xff) * PRIME_5, 11) * PRIME_1;
    }
    h = (h ^ h >>> 33) * PRIME_2;
    h = (h ^ h >>> 29) * PRIME_3;
    return h ^ h >>> 32;
  }

  private static long round(long accumulator, long input) {
    return Long.rotateLeft(accumulator + input * PRIME_2, 31) * PRIME_1;
  }

  private static long merge(long h, long v) {
    return (h ^ round(0, v)) * PRIME_1 + PRIME_4;
  }
}
