package org.stele.client.location;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/**
 * The client's knowledge of where tablets are: table names to ids, rows to tablets and addresses.
 * What it does not know it reads from the metadata table, whose own place it has from ZooKeeper; of
 * all who need the same at a time one reads and the others wait. What proved wrong is dropped with
 * {@link #forget}: on NOT_SERVING, on connection loss, on timeout, for every kind of call.
 *
 * <p>Thread-safe. Methods make one attempt: they throw {@link AttemptException}, and {@link
 * InterruptedException} if the thread was interrupted.
 */
public final class Locations {
  /** So many tablets are read at once: who needs one will need its neighbours. */
  private static final int ROWS_PER_READ = 64;

  private static final List<Column> LOCATION_COLUMNS =
      List.of(
          MetadataSchema.TABLET_ID_COLUMN,
          MetadataSchema.PREVIOUS_END_ROW,
          MetadataSchema.SESSION,
          MetadataSchema.EPOCH,
          MetadataSchema.ADDRESS);

  private static final Bytes TABLE_FAMILY = MetadataSchema.TABLE_ID_COLUMN.family();
  private static final Bytes ID_QUALIFIER =
      requireNonNull(MetadataSchema.TABLE_ID_COLUMN.qualifier());

  private final MetadataSource metadata;
  private final Clock clock;
  private final ConcurrentHashMap<String, String> idsByName = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, TableLocations> tables = new ConcurrentHashMap<>();

  public Locations(RemoteMetadata metadata, Clock clock) {
    this((MetadataSource) metadata, clock);
  }

  Locations(MetadataSource metadata, Clock clock) {
    this.metadata = metadata;
    this.clock = clock;
  }

  // ---- Tables

  /** The id of a table if it is known; it may be out of date. */
  public @Nullable String cachedTableId(String name) {
    return name.equals(MetadataSchema.TABLE_NAME) ? MetadataSchema.TABLE_ID : idsByName.get(name);
  }

  /**
   * The id of a table.
   *
   * @throws AttemptException UNKNOWN_TABLE if there is none
   */
  public String tableId(String name, CallLimits limits) throws InterruptedException {
    String known = cachedTableId(name);
    if (known != null) {
      return known;
    }
    Row row = metadataRow(MetadataSchema.nameRow(name), limits);
    Bytes id = row.get(TABLE_FAMILY, ID_QUALIFIER);
    if (id == null) {
      throw AttemptException.replied(
          "of the metadata",
          new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table " + name));
    }
    idsByName.put(name, id.toUtf8());
    return id.toUtf8();
  }

  /** Forgets that the name has the id. */
  public void forgetTable(String name, String id) {
    if (idsByName.remove(name, id)) {
      tables.remove(id);
    }
  }

  // ---- Tablets

  /** The location of the tablet that has the row, if it is known; it may be out of date. */
  public @Nullable Location cached(String tableId, Bytes row) {
    TableLocations table = tables.get(tableId);
    return table == null ? null : table.known.find(row);
  }

  /**
   * The location of the tablet that has the row.
   *
   * @throws AttemptException NOT_SERVING if it is assigned to no server now
   */
  public Location locate(String tableId, Bytes row, CallLimits limits) throws InterruptedException {
    Location known = cached(tableId, row);
    if (known != null) {
      return known;
    }
    TableLocations table = tables.computeIfAbsent(tableId, id -> new TableLocations());
    long left = limits.deadlineNanos() - clock.nanos();
    if (!table.reading.tryLock(Math.max(0, left), TimeUnit.NANOSECONDS)) {
      throw AttemptException.notSent(
          "of the metadata", "the location was not read within the time of the attempt", null);
    }
    try {
      Location meanwhile = table.known.find(row);
      if (meanwhile != null) {
        return meanwhile;
      }
      return tableId.equals(MetadataSchema.TABLE_ID)
          ? readRoot(table, limits)
          : read(tableId, row, table, limits);
    } finally {
      table.reading.unlock();
    }
  }

  private Location readRoot(TableLocations table, CallLimits limits) throws InterruptedException {
    try {
      return served(table, metadata.root(limits));
    } catch (MalformedBytesException e) {
      throw malformed(e);
    }
  }

  private Location read(String tableId, Bytes row, TableLocations table, CallLimits limits)
      throws InterruptedException {
    List<TabletRow> rows =
        tabletRows(
            MetadataSchema.tabletRowsFrom(tableId, row), LOCATION_COLUMNS, ROWS_PER_READ, limits);
    for (int i = rows.size() - 1; i > 0; i--) {
      Location neighbour = location(rows.get(i));
      if (neighbour != null) {
        table.known.add(neighbour);
      }
    }
    if (rows.isEmpty()) {
      throw AttemptException.replied(
          "of the metadata",
          new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table with id " + tableId));
    }
    if (!rows.get(0).extent().contains(row)) {
      throw AttemptException.replied(
          "of the metadata",
          new SteleException(
              ErrorCode.NOT_SERVING,
              "no tablet of table "
                  + tableId
                  + " has "
                  + (row.isEmpty() ? "the first row" : "row " + row)));
    }
    return served(table, rows.get(0));
  }

  private static Location served(TableLocations table, TabletRow row) {
    Location location = location(row);
    if (location == null) {
      throw AttemptException.replied(
          "of the metadata",
          new SteleException(
              ErrorCode.NOT_SERVING,
              "tablet " + row.tabletId() + " " + row.extent() + " is served by no server now"));
    }
    table.known.add(location);
    return location;
  }

  private static @Nullable Location location(TabletRow row) {
    String address = row.address();
    return address == null || row.session() == null
        ? null
        : new Location(row.tabletId(), row.extent(), address);
  }

  /** Forgets a location that proved wrong, if it is still the one that is known. */
  public void forget(Location location) {
    TableLocations table = tables.get(location.extent().tableId());
    if (table != null) {
      table.known.remove(location);
    }
  }

  /**
   * All tablets of a table in order, read now; if they have a gap (a split is under way): again.
   */
  public List<TabletRow> readTablets(String tableId, CallLimits limits)
      throws InterruptedException {
    if (tableId.equals(MetadataSchema.TABLE_ID)) {
      return List.of(metadata.root(limits));
    }
    List<TabletRow> all = new ArrayList<>();
    Bytes next = Bytes.EMPTY;
    while (next != null) {
      List<TabletRow> some =
          tabletRows(
              MetadataSchema.tabletRowsFrom(tableId, next),
              LOCATION_COLUMNS,
              ROWS_PER_READ,
              limits);
      if (some.isEmpty()) {
        throw AttemptException.replied(
            "of the metadata",
            new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table with id " + tableId));
      }
      all.addAll(some);
      Bytes end = some.get(some.size() - 1).extent().endRow();
      next = end == null ? null : KeyCodec.rowAfter(end);
    }
    return all;
  }

  // ---- The metadata table

  /** A row of the metadata table. */
  public Row metadataRow(Bytes row, CallLimits limits) throws InterruptedException {
    return atMetadata(limits, address -> metadata.lookup(address, row, limits));
  }

  private List<TabletRow> tabletRows(
      Range range, List<Column> columns, int maxRows, CallLimits limits)
      throws InterruptedException {
    List<Cell> cells =
        atMetadata(limits, address -> metadata.scan(address, range, columns, maxRows, limits));
    List<TabletRow> rows = new ArrayList<>();
    try {
      for (int from = 0; from < cells.size(); ) {
        int to = from + 1;
        while (to < cells.size() && cells.get(to).row().equals(cells.get(from).row())) {
          to++;
        }
        rows.add(TabletRow.decode(cells.get(from).row(), cells.subList(from, to)));
        from = to;
      }
    } catch (MalformedBytesException e) {
      throw malformed(e);
    }
    return rows;
  }

  private <T> T atMetadata(CallLimits limits, MetadataRead<T> read) throws InterruptedException {
    Location root = locate(MetadataSchema.TABLE_ID, Bytes.EMPTY, limits);
    try {
      return read.at(root.address());
    } catch (AttemptException e) {
      if (e.refreshesLocation()) {
        forget(root);
      }
      throw e;
    }
  }

  private static AttemptException malformed(MalformedBytesException e) {
    return AttemptException.replied(
        "of the metadata",
        new SteleException(ErrorCode.CORRUPT, "the metadata is malformed: " + e.getMessage(), e));
  }

  @FunctionalInterface
  private interface MetadataRead<T> {
    T at(String address) throws InterruptedException;
  }

  private static final class TableLocations {
    private final TabletMap known = new TabletMap();

    /** Held by the one that reads the metadata for this table. */
    private final ReentrantLock reading = new ReentrantLock();
  }
}
