package org.stele.tserver.scan;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Column;

/**
 * Asks for one batch of a scan.
 *
 * @param lowerKey encoded; no cell before it is given
 * @param upperKey encoded; no cell at or after it is given; null: open
 * @param columns empty: all
 * @param maxRows limit of this batch; 0: none
 * @param maxCells limit of this batch; 0: none
 * @param plain the cells travel as a list
 * @param maxBytes limit of the cells as they travel; 0: that of the server
 * @param position of the answer before, null at first: where to go on
 * @param readSequence with a position inside a row: that at which the row was begun; else 0
 * @param bypassCache blocks read are not put into the cache
 * @param deadlineNanos on the server's clock; a batch ends before it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ScanQuery(
    String tableId,
    byte[] lowerKey,
    byte @Nullable [] upperKey,
    List<Column> columns,
    int maxRows,
    int maxCells,
    boolean plain,
    int maxBytes,
    byte @Nullable [] position,
    long readSequence,
    boolean bypassCache,
    long deadlineNanos) {

  /** The cells travel packed. */
  public ScanQuery(
      String tableId,
      byte[] lowerKey,
      byte @Nullable [] upperKey,
      List<Column> columns,
      int maxRows,
      int maxCells,
      int maxBytes,
      byte @Nullable [] position,
      long readSequence,
      boolean bypassCache,
      long deadlineNanos) {
    this(
        tableId,
        lowerKey,
        upperKey,
        columns,
        maxRows,
        maxCells,
        false,
        maxBytes,
        position,
        readSequence,
        bypassCache,
        deadlineNanos);
  }
}
