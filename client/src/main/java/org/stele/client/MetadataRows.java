package org.stele.client;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Row;

/** Reads columns of rows of the metadata table. */
final class MetadataRows {
  private MetadataRows() {}

  /** The value of a column as text; null if the row does not have it. */
  static @Nullable String text(Row row, Column column) {
    Bytes qualifier = column.qualifier();
    Bytes value = qualifier == null ? null : row.get(column.family(), qualifier);
    return value == null ? null : value.toUtf8();
  }
}
