package org.stele.tserver.conditional;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellType;
import org.stele.core.data.Column;
import org.stele.core.data.Durability;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.core.data.Update;
import org.stele.core.data.WriterStamp;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;
import org.stele.core.wire.PackedCells;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.tserver.conditional.ConditionalBatch.Condition;
import org.stele.tserver.lookup.LookupAnswer;
import org.stele.tserver.lookup.LookupQuery;
import org.stele.tserver.lookup.LookupStage;
import org.stele.tserver.write.WriteBatch;
import org.stele.tserver.write.WriteFailure;
import org.stele.tserver.write.WriteStage;

/**
 * Applies conditional batches to one table that is one tablet here. The steps:
 *
 * <pre>
 *   reserve    the rows of the batch, in order; waits for batches that have them
 *   recognise  a batch whose mark is there was done before
 *   check      every condition, against what is visible
 *   write      one atomic, synced record of the log
 *   release    the rows, when the batch is visible or failed; then the answer
 * </pre>
 *
 * What changes the table goes through here and nowhere else: so nothing happens to a reserved row
 * between check and publish. Thread-safe; {@link #apply} blocks for rows and reads, not for the
 * log.
 */
public final class ConditionalStage {
  private final String tableId;
  private final Bytes marks;
  private final LookupStage lookups;
  private final WriteStage writes;
  private final RowReservations reservations;

  /**
   * @param marks the family of columns by which batches are recognised
   */
  public ConditionalStage(
      String tableId, Bytes marks, LookupStage lookups, WriteStage writes, Clock clock) {
    this.tableId = tableId;
    this.marks = marks;
    this.lookups = lookups;
    this.writes = writes;
    this.reservations = new RowReservations(clock);
  }

  /**
   * Applies a batch.
   *
   * @param done called once, here or on a thread of the log: null if the batch is done, else why
   *     not: CONSTRAINT if a condition does not hold
   */
  public void apply(
      ConditionalBatch batch, long deadlineNanos, Consumer<@Nullable SteleException> done) {
    RowReservations.Reservation reservation = reserve(batch, deadlineNanos);
    boolean handedOn = false;
    try {
      Map<Bytes, Row> rows = new HashMap<>();
      if (isDone(batch, rows)) {
        reservation.close();
        handedOn = true;
        done.accept(null);
        return;
      }
      for (Condition condition : batch.conditions()) {
        check(condition, rows);
      }
      handedOn = true;
      writes.write(
          new WriteBatch(
              tableId, batch.mutations(), Durability.SYNC, deadlineNanos, true, WriterStamp.NONE),
          failures -> {
            reservation.close();
            done.accept(first(failures));
          });
    } finally {
      if (!handedOn) {
        reservation.close();
      }
    }
  }

  private RowReservations.Reservation reserve(ConditionalBatch batch, long deadlineNanos) {
    NavigableMap<Bytes, Boolean> rows = new TreeMap<>();
    batch.conditions().forEach(condition -> rows.putIfAbsent(condition.row(), false));
    batch.mutations().forEach(mutation -> rows.put(mutation.row(), true));
    try {
      RowReservations.Reservation reservation = reservations.reserve(rows, deadlineNanos);
      if (reservation != null) {
        return reservation;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SteleException(ErrorCode.UNAVAILABLE, "interrupted: the server is stopping", e);
    }
    throw new SteleException(
        ErrorCode.DEADLINE_EXCEEDED,
        "batch " + batch.id() + " waited for rows of other batches until its deadline");
  }

  private boolean isDone(ConditionalBatch batch, Map<Bytes, Row> rows) {
    Bytes id = Bytes.of(batch.id());
    for (Mutation mutation : batch.mutations()) {
      for (Update update : mutation.updates()) {
        if (update.type() == CellType.PUT
            && update.family().equals(marks)
            && update.value().equals(id)
            && Objects.equals(row(mutation.row(), rows).get(marks, update.qualifier()), id)) {
          return true;
        }
      }
    }
    return false;
  }

  private void check(Condition condition, Map<Bytes, Row> rows) {
    Column column = condition.column();
    Bytes qualifier = column.qualifier() == null ? Bytes.EMPTY : column.qualifier();
    Bytes found = row(condition.row(), rows).get(column.family(), qualifier);
    boolean holds = Objects.equals(found, condition.value());
    if (!holds) {
      throw new SteleException(
          ErrorCode.CONSTRAINT,
          "row "
              + condition.row()
              + ", column "
              + column
              + " must "
              + (condition.value() == null ? "not be there" : "be " + condition.value())
              + ", and is "
              + (found == null ? "not there" : found.toString()));
    }
  }

  private Row row(Bytes row, Map<Bytes, Row> rows) {
    return rows.computeIfAbsent(row, this::read);
  }

  private Row read(Bytes row) {
    LookupAnswer answer =
        lookups.lookup(
            new LookupQuery(
                tableId, row.unsafeArray(), 0, row.length(), List.of(), Integer.MAX_VALUE));
    if (answer.more()) {
      throw new SteleException(
          ErrorCode.TOO_LARGE, "row " + row + " is too large for a conditional batch");
    }
    PackedCellsWriter packed = answer.cells();
    List<Cell> cells = PackedCells.decode(packed.array(), 0, packed.length());
    return new Row(row, cells);
  }

  private static @Nullable SteleException first(List<WriteFailure> failures) {
    return failures.isEmpty() ? null : failures.get(0).error();
  }
}
