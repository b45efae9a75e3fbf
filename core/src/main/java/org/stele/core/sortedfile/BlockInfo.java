package org.stele.core.sortedfile;

import org.stele.core.data.Bytes;

/**
 * One block of a file as it is stored.
 *
 * @param level 0 for data, filter and properties; 1 and more for index blocks, from the leaves up
 * @param storedBytes length in the file, with the trailer
 * @param rawBytes length before compression
 * @param entries entries of a data or index block, lines of a filter page, else 0
 * @param separator the key that the index has for the block; empty if there is none
 */
public record BlockInfo(
    Kind kind,
    int level,
    long offset,
    int storedBytes,
    int rawBytes,
    int entries,
    Bytes separator) {

  /** What is in a block. */
  public enum Kind {
    DATA,
    INDEX,
    FILTER,
    PROPERTIES
  }
}
