package org.stele.core.sortedfile;

/** Consecutive lines of a row filter in memory. */
final class FilterPage extends Block {
  FilterPage(byte[] bytes) {
    super(bytes);
  }
}
