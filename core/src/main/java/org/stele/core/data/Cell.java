package org.stele.core.data;

import static java.util.Objects.requireNonNull;

/**
 * One value of the map and its key. Timestamps are milliseconds since 1970 if the server gave them.
 */
public record Cell(
    Bytes row, Bytes family, Bytes qualifier, Bytes visibility, long timestamp, Bytes value) {
  public Cell {
    requireNonNull(row, "row is null");
    requireNonNull(family, "family is null");
    requireNonNull(qualifier, "qualifier is null");
    requireNonNull(visibility, "visibility is null");
    requireNonNull(value, "value is null");
  }

  /**
   * Row, family, qualifier, timestamp and the length of the value; never the value, which may be
   * secret.
   */
  @Override
  public String toString() {
    return row
        + " "
        + family
        + ":"
        + qualifier
        + " ["
        + visibility
        + "] "
        + timestamp
        + " "
        + value.length()
        + " B";
  }
}
