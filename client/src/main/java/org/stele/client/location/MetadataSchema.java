package org.stele.client.location;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Range;

/**
 * The rows and columns of the metadata table, in one place for those who read and write it.
 *
 * <pre>
 *   n:NAME               t:id                                               a table's name
 *   t:TABLE              t:name t:state s:SETTING…                          a table
 *   x:TABLE;ENDROW       a tablet that ends with a row                      (sorted by it)
 *   x:TABLE&lt;             the last tablet of a table
 *                        t:id t:prev  l:session l:epoch l:address  f:FILE…  w:SESSION.EPOCH…
 *                        q:flushed q:timefloor  b:owner b:coordinator
 *   c:                   t:epoch b:coordinator                              the coordinator's epoch
 *   g:TABLE/FILE         t:time                                             a file to delete
 * </pre>
 *
 * The metadata tablet's own row, with the columns of a tablet, lies in ZooKeeper's {@code /root}.
 * Text is UTF-8; numbers are decimal text unless said otherwise.
 */
public final class MetadataSchema {
  /** The metadata table and its only tablet. */
  public static final String TABLE_ID = "0";

  public static final String TABLE_NAME = "stele.metadata";
  public static final String TABLET_ID = "0";

  public static final Column TABLE_ID_COLUMN = Column.of("t", "id");
  public static final Column TABLE_NAME_COLUMN = Column.of("t", "name");

  /** Of a table: {@code online} or {@code deleting}. */
  public static final Column TABLE_STATE = Column.of("t", "state");

  /** Family of a table's settings; the qualifier is the name. */
  public static final Bytes SETTINGS = Bytes.of("s");

  public static final Column TABLET_ID_COLUMN = Column.of("t", "id");

  /** 00: none; 01 and the row. */
  public static final Column PREVIOUS_END_ROW = Column.of("t", "prev");

  /** The session that serves the tablet; absent: none. */
  public static final Column SESSION = Column.of("l", "session");

  /** Of the last assignment; stays when the session goes. */
  public static final Column EPOCH = Column.of("l", "epoch");

  /** host:port of the server of the session. */
  public static final Column ADDRESS = Column.of("l", "address");

  /** Family of sorted files; the qualifier is the file's id. */
  public static final Bytes FILES = Bytes.of("f");

  /** Family of log references; the qualifier is SESSION.EPOCH. */
  public static final Bytes LOGS = Bytes.of("w");

  /** Everything up to this sequence is in files: 8 bytes, big-endian. */
  public static final Column FLUSHED = Column.of("q", "flushed");

  /** No later time given to a cell is below it: milliseconds, 8 bytes, big-endian. */
  public static final Column TIME_FLOOR = Column.of("q", "timefloor");

  /** The last batch by the tablet's owner that touched the row. */
  public static final Column OWNER_BATCH = Column.of("b", "owner");

  /** The last batch by the coordinator that touched the row. */
  public static final Column COORDINATOR_BATCH = Column.of("b", "coordinator");

  /** The row that every coordinator raises first. */
  public static final Bytes COORDINATOR_ROW = Bytes.of("c:");

  public static final Column COORDINATOR_EPOCH = Column.of("t", "epoch");

  /** When a file lost its last reference: milliseconds since 1970. */
  public static final Column DELETE_TIME = Column.of("t", "time");

  private static final String NAMES = "n:";
  private static final String TABLES = "t:";
  private static final String TABLETS = "x:";
  private static final String DELETES = "g:";
  private static final byte WITH_END_ROW = ';';
  private static final byte LAST = '<';

  private MetadataSchema() {}

  public static Bytes nameRow(String tableName) {
    return Bytes.of(NAMES + tableName);
  }

  public static Range nameRows() {
    return Range.prefix(NAMES);
  }

  public static Bytes tableRow(String tableId) {
    return Bytes.of(TABLES + tableId);
  }

  public static Range tableRows() {
    return Range.prefix(TABLES);
  }

  /** The id in a row of {@link #tableRows()}. */
  public static String tableIdOf(Bytes tableRow) {
    return tableRow.toUtf8().substring(TABLES.length());
  }

  /**
   * The row of a tablet.
   *
   * @param endRow null: the last tablet
   */
  public static Bytes tabletRow(String tableId, @Nullable Bytes endRow) {
    byte[] prefix = Bytes.of(TABLETS + tableId).unsafeArray();
    int endLength = endRow == null ? 0 : endRow.length();
    byte[] row = Arrays.copyOf(prefix, prefix.length + 1 + endLength);
    row[prefix.length] = endRow == null ? LAST : WITH_END_ROW;
    if (endRow != null) {
      System.arraycopy(endRow.unsafeArray(), 0, row, prefix.length + 1, endLength);
    }
    return Bytes.wrap(row);
  }

  /** All tablets, by table and end row. */
  public static Range tabletRows() {
    return Range.prefix(TABLETS);
  }

  /** The tablets of a table, by end row. */
  public static Range tabletRows(String tableId) {
    return Range.rows(tabletRow(tableId, Bytes.EMPTY), true, tabletRow(tableId, null), true);
  }

  /** The tablets of a table from that which holds {@code row} on. */
  public static Range tabletRowsFrom(String tableId, Bytes row) {
    return Range.rows(tabletRow(tableId, row), true, tabletRow(tableId, null), true);
  }

  /** The table's id in a row of a tablet. */
  public static String tabletTableId(Bytes tabletRow) {
    return Bytes.of(
            tabletRow.unsafeArray(), TABLETS.length(), separator(tabletRow) - TABLETS.length())
        .toUtf8();
  }

  /** The end row in a row of a tablet; null: the last tablet. */
  public static @Nullable Bytes tabletEndRow(Bytes tabletRow) {
    int separator = separator(tabletRow);
    return tabletRow.at(separator) == LAST
        ? null
        : Bytes.of(tabletRow.unsafeArray(), separator + 1, tabletRow.length() - separator - 1);
  }

  private static int separator(Bytes tabletRow) {
    for (int i = TABLETS.length(); i < tabletRow.length(); i++) {
      if (tabletRow.at(i) == WITH_END_ROW || tabletRow.at(i) == LAST) {
        return i;
      }
    }
    throw new MalformedBytesException("'" + tabletRow + "' is not the row of a tablet");
  }

  /** The value of {@link #PREVIOUS_END_ROW}. */
  public static Bytes encodePreviousEndRow(@Nullable Bytes row) {
    byte[] value = new byte[row == null ? 1 : 1 + row.length()];
    if (row != null) {
      value[0] = 1;
      System.arraycopy(row.unsafeArray(), 0, value, 1, row.length());
    }
    return Bytes.wrap(value);
  }

  /** The row in a value of {@link #PREVIOUS_END_ROW}; null: none. */
  public static @Nullable Bytes decodePreviousEndRow(Bytes value) {
    if (value.isEmpty() || value.at(0) < 0 || value.at(0) > 1) {
      throw new MalformedBytesException("'" + value + "' is not a previous end row");
    }
    return value.at(0) == 0 ? null : Bytes.of(value.unsafeArray(), 1, value.length() - 1);
  }

  public static Bytes deleteRow(String tableId, String fileId) {
    return Bytes.of(DELETES + tableId + "/" + fileId);
  }

  public static Range deleteRows() {
    return Range.prefix(DELETES);
  }

  /** Table and file in a row of {@link #deleteRows()}. */
  public static String[] deleteRowParts(Bytes deleteRow) {
    String[] parts = deleteRow.toUtf8().substring(DELETES.length()).split("/", 2);
    if (parts.length != 2) {
      throw new MalformedBytesException("'" + deleteRow + "' is not the row of a file to delete");
    }
    return parts;
  }
}
