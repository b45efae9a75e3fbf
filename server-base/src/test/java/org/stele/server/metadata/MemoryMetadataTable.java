package org.stele.server.metadata;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.stele.core.coordination.RootRecord;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellType;
import org.stele.core.data.Column;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.data.Update;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * A metadata table in memory with the rules of the real one: batches are whole or not at all, and a
 * batch whose mark is there was done. A batch can be made to lose its answer. Thread-safe.
 */
public final class MemoryMetadataTable implements MetadataTable {
  @GuardedBy("this")
  private final TreeMap<Bytes, SortedMap<Column, Bytes>> rows = new TreeMap<>();

  @GuardedBy("this")
  private boolean loseNextAnswer;

  @GuardedBy("this")
  private int batches;

  /** The next batch is applied, but its writer hears of an unknown outcome. */
  public synchronized void loseNextAnswer() {
    loseNextAnswer = true;
  }

  /** Batches applied. */
  public synchronized int batches() {
    return batches;
  }

  @Override
  public synchronized @Nullable Row read(Bytes row) {
    SortedMap<Column, Bytes> columns = rows.get(row);
    if (columns == null || columns.isEmpty()) {
      return null;
    }
    List<Cell> cells = new ArrayList<>();
    columns.forEach(
        (column, value) ->
            cells.add(
                new Cell(row, column.family(), Columns.qualifier(column), Bytes.EMPTY, 0, value)));
    return new Row(row, cells);
  }

  @Override
  public synchronized List<Row> scan(Range range) {
    List<Row> found = new ArrayList<>();
    for (Bytes row : rows.keySet()) {
      Row read = read(row);
      if (read != null && contains(range, row)) {
        found.add(read);
      }
    }
    return found;
  }

  private static boolean contains(Range range, Bytes row) {
    byte[] lower = KeyCodec.lowerBound(row);
    byte[] upper = range.upperKey();
    return Arrays.compareUnsigned(range.lowerKey(), lower) <= 0
        && (upper == null || Arrays.compareUnsigned(lower, upper) < 0);
  }

  @Override
  public synchronized void apply(MetadataBatch batch) {
    if (!isDone(batch)) {
      for (MetadataBatch.Condition condition : batch.conditions()) {
        SortedMap<Column, Bytes> columns = rows.get(condition.row());
        Bytes found = columns == null ? null : columns.get(condition.column());
        if (!Objects.equals(found, condition.value())) {
          throw new SteleException(
              ErrorCode.CONSTRAINT,
              condition + " does not hold: " + (found == null ? "absent" : found.toString()));
        }
      }
      batch.mutations().forEach(this::change);
      batches++;
    }
    if (loseNextAnswer) {
      loseNextAnswer = false;
      throw new SteleException(ErrorCode.UNAVAILABLE, "the answer is lost");
    }
  }

  @GuardedBy("this")
  private boolean isDone(MetadataBatch batch) {
    return rows.values().stream()
        .flatMap(columns -> columns.entrySet().stream())
        .anyMatch(
            entry ->
                entry.getKey().family().equals(Bytes.of("b"))
                    && entry.getValue().equals(Bytes.of(batch.id())));
  }

  @GuardedBy("this")
  private void change(Mutation mutation) {
    SortedMap<Column, Bytes> columns =
        rows.computeIfAbsent(mutation.row(), row -> RootRecord.emptyColumns());
    for (Update update : mutation.updates()) {
      Column column = new Column(update.family(), update.qualifier());
      if (update.type() == CellType.PUT) {
        columns.put(column, requireNonNull(update.value()));
      } else if (update.type() == CellType.DELETE_COLUMN) {
        columns.remove(column);
      } else {
        columns.clear();
      }
    }
    if (columns.isEmpty()) {
      rows.remove(mutation.row());
    }
  }

  /** Puts a row there without conditions. */
  public void putRow(Bytes row, SortedMap<Column, Bytes> columns) {
    MetadataBatch batch = new MetadataBatch("put " + row);
    columns.forEach((column, value) -> batch.put(row, column, value));
    apply(batch);
  }
}
