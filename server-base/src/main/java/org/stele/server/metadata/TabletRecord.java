package org.stele.server.metadata;

import static org.stele.client.location.MetadataSchema.ADDRESS;
import static org.stele.client.location.MetadataSchema.EPOCH;
import static org.stele.client.location.MetadataSchema.FILES;
import static org.stele.client.location.MetadataSchema.FLUSHED;
import static org.stele.client.location.MetadataSchema.LOGS;
import static org.stele.client.location.MetadataSchema.PREVIOUS_END_ROW;
import static org.stele.client.location.MetadataSchema.SESSION;
import static org.stele.client.location.MetadataSchema.TABLET_ID_COLUMN;
import static org.stele.client.location.MetadataSchema.TIME_FLOOR;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Row;

/**
 * A tablet as its row has it; the metadata tablet's own row, too.
 *
 * @param row of the metadata table
 * @param previousEndRow null: it begins with the table's first row
 * @param endRow null: it is the last of its table
 * @param session of the server that has it; null: none has
 * @param address host:port of that server; null: none
 * @param epoch of the last assignment, 0 before the first
 * @param files in order of their ids
 * @param logs of former servers, to be replayed above {@code flushed}
 * @param flushed everything up to this sequence is in files
 * @param timeFloor milliseconds; no later time given to a cell is below it
 */
public record TabletRecord(
    Bytes row,
    String tabletId,
    String tableId,
    @Nullable Bytes previousEndRow,
    @Nullable Bytes endRow,
    @Nullable String session,
    @Nullable String address,
    int epoch,
    List<FileRecord> files,
    List<LogReference> logs,
    long flushed,
    long timeFloor) {
  public TabletRecord {
    files = List.copyOf(files);
    logs = List.copyOf(logs);
  }

  /** A tablet that nobody has yet and that holds nothing. */
  public static TabletRecord unassigned(
      String tabletId, String tableId, @Nullable Bytes previousEndRow, @Nullable Bytes endRow) {
    return new TabletRecord(
        MetadataSchema.tabletRow(tableId, endRow),
        tabletId,
        tableId,
        previousEndRow,
        endRow,
        null,
        null,
        0,
        List.of(),
        List.of(),
        0,
        0);
  }

  public static TabletRecord of(Row row) {
    List<FileRecord> files = new ArrayList<>();
    List<LogReference> logs = new ArrayList<>();
    for (Cell cell : row.cells()) {
      if (cell.family().equals(FILES)) {
        files.add(FileRecord.decode(cell.qualifier().toUtf8(), cell.value()));
      } else if (cell.family().equals(LOGS)) {
        logs.add(LogReference.parse(cell.qualifier()));
      }
    }
    Bytes session = Columns.get(row, SESSION);
    Bytes address = Columns.get(row, ADDRESS);
    return new TabletRecord(
        row.key(),
        Columns.require(row, TABLET_ID_COLUMN).toUtf8(),
        MetadataSchema.tabletTableId(row.key()),
        MetadataSchema.decodePreviousEndRow(Columns.require(row, PREVIOUS_END_ROW)),
        MetadataSchema.tabletEndRow(row.key()),
        session == null ? null : session.toUtf8(),
        address == null ? null : address.toUtf8(),
        Columns.decimal(row, EPOCH, 0),
        files,
        logs,
        Columns.number(row, FLUSHED),
        Columns.number(row, TIME_FLOOR));
  }

  public boolean isAssigned() {
    return session != null;
  }

  /** The same tablet, given to a server. */
  public TabletRecord assigned(String newSession, String newAddress, int newEpoch) {
    return new TabletRecord(
        row,
        tabletId,
        tableId,
        previousEndRow,
        endRow,
        newSession,
        newAddress,
        newEpoch,
        files,
        logs,
        flushed,
        timeFloor);
  }

  /** The same tablet with other log references. */
  public TabletRecord withLogs(List<LogReference> newLogs) {
    return new TabletRecord(
        row,
        tabletId,
        tableId,
        previousEndRow,
        endRow,
        session,
        address,
        epoch,
        files,
        newLogs,
        flushed,
        timeFloor);
  }
}
