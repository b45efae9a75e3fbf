package org.stele.core.data;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a reader should see, worked out the slow way from everything ever written: an oracle for
 * tests. It knows neither encoded keys nor the order in which cells are stored, so that it shares
 * no mistake with them. Not thread-safe.
 */
public final class CellModel {
  private static final Comparator<Cell> ORDER =
      Comparator.comparing(Cell::row)
          .thenComparing(Cell::family)
          .thenComparing(Cell::qualifier)
          .thenComparing(Cell::visibility)
          .thenComparing(Comparator.comparingLong(Cell::timestamp).reversed());

  /** One thing written. Parts outside the scope of a delete of a family or row are empty. */
  public record Entry(
      Bytes row,
      Bytes family,
      Bytes qualifier,
      Bytes visibility,
      long timestamp,
      long sequence,
      CellType type,
      Bytes value) {

    public byte[] key() {
      return KeyCodec.encode(row, family, qualifier, visibility, timestamp, sequence, type);
    }

    /** Whether this delete is about that put's place, whatever the times. */
    private boolean hasInScope(Entry put) {
      return row.equals(put.row)
          && switch (type) {
            case DELETE_ROW -> true;
            case DELETE_FAMILY -> family.equals(put.family);
            case DELETE_COLUMN, DELETE_CELL, PUT -> isSameColumn(put);
          };
    }

    private boolean isSameColumn(Entry other) {
      return row.equals(other.row)
          && family.equals(other.family)
          && qualifier.equals(other.qualifier)
          && visibility.equals(other.visibility);
    }

    /** Whether a reader that sees this does not see that put. */
    private boolean hides(Entry put) {
      if (Long.compareUnsigned(sequence, put.sequence) <= 0 || !hasInScope(put)) {
        return false;
      }
      return switch (type) {
        case PUT, DELETE_CELL -> timestamp == put.timestamp;
        case DELETE_COLUMN, DELETE_FAMILY, DELETE_ROW -> timestamp >= put.timestamp;
      };
    }

    private Cell cell() {
      return new Cell(row, family, qualifier, visibility, timestamp, value);
    }
  }

  private final Map<Bytes, List<Entry>> rows = new TreeMap<>();

  public static CellModel of(Collection<Entry> entries) {
    CellModel model = new CellModel();
    entries.forEach(model::add);
    return model;
  }

  public void add(Entry entry) {
    rows.computeIfAbsent(entry.row, row -> new ArrayList<>()).add(entry);
  }

  /**
   * Adds a mutation whose updates have consecutive sequences.
   *
   * @param serverTime the timestamp of updates that bring none
   */
  public void add(Mutation mutation, long firstSequence, long serverTime) {
    long sequence = firstSequence;
    for (Update update : mutation.updates()) {
      Long timestamp = update.timestamp();
      add(
          new Entry(
              mutation.row(),
              update.family(),
              update.qualifier(),
              update.visibility(),
              timestamp == null ? serverTime : timestamp,
              sequence++,
              update.type(),
              update.value()));
    }
  }

  /** All visible cells in order. */
  public List<Cell> read(long maxSequence, int versions) {
    List<Cell> cells = new ArrayList<>();
    rows.values().forEach(entries -> readRow(entries, maxSequence, versions, cells));
    return cells;
  }

  /** The visible cells of a range and of some columns (none: all), in order. */
  public List<Cell> read(long maxSequence, int versions, Range range, List<Column> columns) {
    return read(maxSequence, versions).stream()
        .filter(cell -> isInRange(cell, range) && isInColumns(cell, columns))
        .toList();
  }

  /** The visible cells of one row. */
  public List<Cell> readRow(Bytes row, long maxSequence, int versions) {
    List<Cell> cells = new ArrayList<>();
    readRow(rows.getOrDefault(row, List.of()), maxSequence, versions, cells);
    return cells;
  }

  private static void readRow(
      List<Entry> entries, long maxSequence, int versions, List<Cell> cells) {
    List<Entry> written =
        entries.stream()
            .filter(entry -> Long.compareUnsigned(entry.sequence, maxSequence) <= 0)
            .toList();
    List<Cell> visible =
        written.stream()
            .filter(entry -> entry.type == CellType.PUT)
            .filter(put -> written.stream().noneMatch(other -> other.hides(put)))
            .map(Entry::cell)
            .sorted(ORDER)
            .toList();
    Cell last = null;
    int seen = 0;
    for (Cell cell : visible) {
      seen = last != null && isSameColumn(last, cell) ? seen + 1 : 1;
      if (seen <= versions) {
        cells.add(cell);
      }
      last = cell;
    }
  }

  private static boolean isSameColumn(Cell a, Cell b) {
    return a.row().equals(b.row())
        && a.family().equals(b.family())
        && a.qualifier().equals(b.qualifier())
        && a.visibility().equals(b.visibility());
  }

  public static boolean isInColumns(Cell cell, List<Column> columns) {
    return columns.isEmpty()
        || columns.stream()
            .anyMatch(
                column ->
                    column.family().equals(cell.family())
                        && (column.qualifier() == null
                            || column.qualifier().equals(cell.qualifier())));
  }

  public static boolean isInRange(Cell cell, Range range) {
    return isAfterStart(cell, range.start()) && isBeforeStop(cell, range.stop());
  }

  private static boolean isAfterStart(Cell cell, @Nullable Bound start) {
    if (start == null) {
      return true;
    }
    int order = compare(cell, start);
    return order > 0 || (order == 0 && start.inclusive());
  }

  private static boolean isBeforeStop(Cell cell, @Nullable Bound stop) {
    if (stop == null) {
      return true;
    }
    int order = compare(cell, stop);
    return order < 0 || (order == 0 && stop.inclusive());
  }

  /** Compares the parts the bound has; 0: the bound names the cell. */
  private static int compare(Cell cell, Bound bound) {
    List<Bytes> parts = List.of(cell.row(), cell.family(), cell.qualifier(), cell.visibility());
    for (int i = 0; i < bound.parts().size(); i++) {
      int order = parts.get(i).compareTo(bound.parts().get(i));
      if (order != 0) {
        return order;
      }
    }
    Long timestamp = bound.timestamp();
    return timestamp == null ? 0 : Long.compare(timestamp, cell.timestamp());
  }
}
