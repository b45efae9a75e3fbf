package org.stele.core.data;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * The rows of one tablet: above {@code previousEndRow}, up to and with {@code endRow}.
 *
 * @param previousEndRow null: from the first row on
 * @param endRow null: up to the last row
 */
public record Extent(String tableId, @Nullable Bytes previousEndRow, @Nullable Bytes endRow) {
  public Extent {
    requireNonNull(tableId, "table id is null");
    if (previousEndRow != null && endRow != null && previousEndRow.compareTo(endRow) >= 0) {
      throw new IllegalArgumentException(
          "an extent above " + previousEndRow + " up to " + endRow + " has no rows");
    }
  }

  public boolean contains(Bytes row) {
    return (previousEndRow == null || row.compareTo(previousEndRow) > 0)
        && (endRow == null || row.compareTo(endRow) <= 0);
  }

  /** Whether some row is in both; both must be of one table. */
  public boolean overlaps(Extent other) {
    return (previousEndRow == null
            || other.endRow == null
            || previousEndRow.compareTo(other.endRow) < 0)
        && (other.previousEndRow == null
            || endRow == null
            || other.previousEndRow.compareTo(endRow) < 0);
  }

  @Override
  public String toString() {
    return tableId
        + "("
        + (previousEndRow == null ? "…" : previousEndRow)
        + ", "
        + (endRow == null ? "…" : endRow)
        + "]";
  }
}
