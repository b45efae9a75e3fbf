package org.stele.client.location;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Extent;
import org.stele.core.data.MalformedBytesException;

/**
 * What the metadata says of a tablet. Immutable.
 *
 * @param session that serves it; null: none
 * @param address of the session's server, {@code host:port}; null: none
 * @param epoch of the last assignment; 0: there was none
 * @param columns all columns that were read of the row
 */
public record TabletRow(
    String tabletId,
    Extent extent,
    @Nullable String session,
    @Nullable String address,
    long epoch,
    Map<Column, Bytes> columns) {
  public TabletRow {
    columns = Collections.unmodifiableMap(columns);
  }

  /**
   * Decodes a row of the metadata table.
   *
   * @param cells of the row, one per column
   * @throws MalformedBytesException if it is not the row of a tablet
   */
  public static TabletRow decode(Bytes row, List<Cell> cells) {
    Map<Column, Bytes> columns = new HashMap<>();
    for (Cell cell : cells) {
      columns.putIfAbsent(new Column(cell.family(), cell.qualifier()), cell.value());
    }
    Bytes previous = columns.get(MetadataSchema.PREVIOUS_END_ROW);
    if (previous == null) {
      throw new MalformedBytesException("metadata row " + row + " has no previous end row");
    }
    return of(
        "metadata row " + row,
        new Extent(
            MetadataSchema.tabletTableId(row),
            MetadataSchema.decodePreviousEndRow(previous),
            MetadataSchema.tabletEndRow(row)),
        columns);
  }

  /** Decodes the metadata tablet's own row. */
  public static TabletRow ofRoot(Map<Column, Bytes> columns) {
    return of("the root node", new Extent(MetadataSchema.TABLE_ID, null, null), columns);
  }

  private static TabletRow of(String what, Extent extent, Map<Column, Bytes> columns) {
    String tabletId = text(columns, MetadataSchema.TABLET_ID_COLUMN);
    if (tabletId == null) {
      throw new MalformedBytesException(what + " has no tablet id");
    }
    String epoch = text(columns, MetadataSchema.EPOCH);
    try {
      return new TabletRow(
          tabletId,
          extent,
          text(columns, MetadataSchema.SESSION),
          text(columns, MetadataSchema.ADDRESS),
          epoch == null ? 0 : Long.parseLong(epoch),
          columns);
    } catch (NumberFormatException e) {
      throw new MalformedBytesException(what + " has epoch '" + epoch + "', which is no number");
    }
  }

  private static @Nullable String text(Map<Column, Bytes> columns, Column column) {
    Bytes value = columns.get(column);
    return value == null ? null : value.toUtf8();
  }
}
