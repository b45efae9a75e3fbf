package org.stele.core.sortedfile;

/**
 * A part of a sorted file in memory: verified and decompressed, ready to be searched in place.
 * Immutable, thread-safe.
 */
public abstract sealed class Block permits EntryBlock, FilterPage {
  /** Headers and fields of the block and its array, in bytes. */
  private static final int OVERHEAD = 64;

  /** Never changed after construction. */
  final byte[] bytes;

  Block(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Memory that the block needs, in bytes. */
  public final int weight() {
    return bytes.length + OVERHEAD;
  }
}
