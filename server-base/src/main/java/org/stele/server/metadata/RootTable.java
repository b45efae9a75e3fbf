package org.stele.server.metadata;

import static org.stele.client.location.MetadataSchema.DELETE_TIME;
import static org.stele.client.location.MetadataSchema.TABLE_ID;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.MetadataSchema;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.coordination.RootRecord;
import org.stele.core.coordination.Versioned;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.data.Update;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/**
 * The metadata tablet's own row, which lies in ZooKeeper's {@code /root}, and the delete rows of
 * its files, which are columns there (family {@code g}). Batches are made by version, and only
 * while the lock node of the writer's session is there. Thread-safe.
 */
public final class RootTable implements MetadataTable {
  /** The metadata tablet's row, were it in the metadata table. */
  public static final Bytes ROW = MetadataSchema.tabletRow(TABLE_ID, null);

  private static final Bytes DELETES = Bytes.of("g");

  private final Coordination coordination;
  private final String session;
  private final Duration deadline;
  private final Clock clock;
  private final Backoff backoff;

  /**
   * @param session of this server, whose lock node allows its writes
   * @param deadline of one operation with all its attempts
   */
  public RootTable(
      Coordination coordination, String session, Duration deadline, Clock clock, Backoff backoff) {
    this.coordination = coordination;
    this.session = session;
    this.deadline = deadline;
    this.clock = clock;
    this.backoff = backoff;
  }

  /** What the root of a new instance holds. */
  public static RootRecord initialRoot() {
    SortedMap<Column, Bytes> columns = RootRecord.emptyColumns();
    columns.put(MetadataSchema.TABLET_ID_COLUMN, Bytes.of(MetadataSchema.TABLET_ID));
    columns.put(MetadataSchema.PREVIOUS_END_ROW, MetadataSchema.encodePreviousEndRow(null));
    return new RootRecord(columns);
  }

  @Override
  public @Nullable Row read(Bytes row) {
    if (!row.equals(ROW)) {
      throw new IllegalArgumentException("row " + row + " is not in the root");
    }
    List<Cell> cells = new ArrayList<>();
    readRoot()
        .value()
        .columns()
        .forEach(
            (column, value) -> {
              if (!column.family().equals(DELETES)) {
                cells.add(cell(ROW, column, value));
              }
            });
    return new Row(ROW, cells);
  }

  /** Only the delete rows can be scanned. */
  @Override
  public List<Row> scan(Range range) {
    List<Row> rows = new ArrayList<>();
    readRoot()
        .value()
        .columns()
        .forEach(
            (column, value) -> {
              if (column.family().equals(DELETES)) {
                Bytes row = MetadataSchema.deleteRow(TABLE_ID, Columns.qualifier(column).toUtf8());
                rows.add(new Row(row, List.of(cell(row, DELETE_TIME, value))));
              }
            });
    return rows;
  }

  private static Cell cell(Bytes row, Column column, Bytes value) {
    return new Cell(row, column.family(), Columns.qualifier(column), Bytes.EMPTY, 0, value);
  }

  @Override
  public void apply(MetadataBatch batch) {
    long end = clock.nanos() + deadline.toNanos();
    for (int attempts = 1; ; attempts++) {
      try {
        Versioned<RootRecord> root = readRoot();
        SortedMap<Column, Bytes> columns = RootRecord.emptyColumns();
        columns.putAll(root.value().columns());
        if (isDone(batch, columns)) {
          return;
        }
        check(batch, columns);
        batch.mutations().forEach(mutation -> change(columns, mutation));
        coordination.writeRoot(new RootRecord(columns), root.version(), session);
        return;
      } catch (CoordinationException e) {
        boolean again =
            e.reason() == CoordinationException.Reason.CONFLICT
                || e.reason() == CoordinationException.Reason.NO_ANSWER;
        if (!again || clock.nanos() - end > 0 || !backoff.pause(attempts)) {
          throw new SteleException(
              ErrorCode.UNAVAILABLE, "the root could not be written: " + e.getMessage(), e);
        }
      }
    }
  }

  private Versioned<RootRecord> readRoot() {
    return coordination.readRoot(deadline);
  }

  private static boolean isDone(MetadataBatch batch, SortedMap<Column, Bytes> columns) {
    Bytes id = Bytes.of(batch.id());
    return columns.entrySet().stream()
        .anyMatch(
            entry ->
                entry.getKey().family().equals(MetadataSchema.OWNER_BATCH.family())
                    && entry.getValue().equals(id));
  }

  private static void check(MetadataBatch batch, SortedMap<Column, Bytes> columns) {
    for (MetadataBatch.Condition condition : batch.conditions()) {
      Bytes found = columns.get(column(condition.row(), condition.column()));
      boolean holds = Objects.equals(found, condition.value());
      if (!holds) {
        throw new SteleException(
            ErrorCode.CONSTRAINT,
            "column "
                + condition.column()
                + " of the metadata tablet's row must "
                + (condition.value() == null ? "not be there" : "be " + condition.value())
                + ", and is "
                + (found == null ? "not there" : found.toString()));
      }
    }
  }

  private static void change(SortedMap<Column, Bytes> columns, Mutation mutation) {
    for (Update update : mutation.updates()) {
      Column column = column(mutation.row(), new Column(update.family(), update.qualifier()));
      switch (update.type()) {
        case PUT -> columns.put(column, update.value());
        case DELETE_COLUMN, DELETE_ROW -> columns.remove(column);
        default ->
            throw new IllegalArgumentException("a root batch with an update " + update.type());
      }
    }
  }

  /** A column of the own row, or for any column of a delete row the one that stands for it. */
  private static Column column(Bytes row, Column column) {
    if (row.equals(ROW)) {
      return column;
    }
    String[] parts = MetadataSchema.deleteRowParts(row);
    if (!parts[0].equals(TABLE_ID)) {
      throw new IllegalArgumentException("row " + row + " is not in the root");
    }
    return new Column(DELETES, Bytes.of(parts[1]));
  }
}
