package org.stele.tserver.lookup;

import java.util.List;
import org.stele.core.data.Column;

/**
 * Asks for a row or columns of it. The row is a part of an array, which is only read while the
 * lookup runs.
 *
 * @param columns empty: all
 * @param plain the cells travel as a list
 * @param maxBytes the most bytes of cells to answer with, as they travel
 */
@SuppressWarnings("ArrayRecordComponent") // a view of the request, never compared
public record LookupQuery(
    String tableId,
    byte[] row,
    int rowOffset,
    int rowLength,
    List<Column> columns,
    boolean plain,
    int maxBytes) {

  /** The cells travel packed. */
  public LookupQuery(
      String tableId,
      byte[] row,
      int rowOffset,
      int rowLength,
      List<Column> columns,
      int maxBytes) {
    this(tableId, row, rowOffset, rowLength, columns, false, maxBytes);
  }
}
