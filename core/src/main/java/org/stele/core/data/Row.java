package org.stele.core.data;

import static java.util.Objects.requireNonNull;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cells of one row as they were at one moment, in key order; empty if the row does not exist.
 * Immutable.
 */
public final class Row implements Iterable<Cell> {
  private final Bytes key;
  private final List<Cell> cells;

  public Row(Bytes key, List<Cell> cells) {
    this.key = requireNonNull(key, "key is null");
    this.cells = List.copyOf(cells);
  }

  public Bytes key() {
    return key;
  }

  public List<Cell> cells() {
    return cells;
  }

  public boolean isEmpty() {
    return cells.isEmpty();
  }

  /** The newest value of a column; null if there is none. */
  public @Nullable Bytes get(Bytes family, Bytes qualifier) {
    for (Cell cell : cells) {
      if (cell.family().equals(family) && cell.qualifier().equals(qualifier)) {
        return cell.value();
      }
    }
    return null;
  }

  /** The newest value of a column as UTF-8; null if there is none. */
  public @Nullable String get(String family, String qualifier) {
    Bytes value = get(Bytes.of(family), Bytes.of(qualifier));
    return value == null ? null : value.toUtf8();
  }

  @Override
  public Iterator<Cell> iterator() {
    return cells.iterator();
  }

  @Override
  public String toString() {
    return "row " + key + ", " + cells.size() + " cells";
  }
}
