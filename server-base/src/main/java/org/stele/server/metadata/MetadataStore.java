package org.stele.server.metadata;

import static org.stele.client.location.MetadataSchema.ADDRESS;
import static org.stele.client.location.MetadataSchema.COORDINATOR_BATCH;
import static org.stele.client.location.MetadataSchema.COORDINATOR_EPOCH;
import static org.stele.client.location.MetadataSchema.COORDINATOR_ROW;
import static org.stele.client.location.MetadataSchema.DELETE_TIME;
import static org.stele.client.location.MetadataSchema.EPOCH;
import static org.stele.client.location.MetadataSchema.FILES;
import static org.stele.client.location.MetadataSchema.FLUSHED;
import static org.stele.client.location.MetadataSchema.LOGS;
import static org.stele.client.location.MetadataSchema.OWNER_BATCH;
import static org.stele.client.location.MetadataSchema.PREVIOUS_END_ROW;
import static org.stele.client.location.MetadataSchema.SESSION;
import static org.stele.client.location.MetadataSchema.TABLET_ID_COLUMN;
import static org.stele.client.location.MetadataSchema.TABLE_ID_COLUMN;
import static org.stele.client.location.MetadataSchema.TIME_FLOOR;
import static org.stele.client.location.MetadataSchema.deleteRow;
import static org.stele.client.location.MetadataSchema.nameRow;
import static org.stele.client.location.MetadataSchema.tableRow;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Row;
import org.stele.core.error.SteleException;

/**
 * Reads the metadata as records and writes it in conditional batches: the owner's are conditional
 * on the row's session and epoch, the coordinator's on the coordinator's epoch. No other code knows
 * which columns a change touches. Thread-safe; every method may block. A condition that does not
 * hold comes as a {@link SteleException} with {@code CONSTRAINT}.
 */
public final class MetadataStore {
  private final MetadataTable table;
  private final MetadataTable root;
  private final Supplier<String> batchIds;

  /**
   * @param table the metadata table
   * @param root the metadata tablet's own row
   * @param batchIds gives ids that were never used before
   */
  public MetadataStore(MetadataTable table, MetadataTable root, Supplier<String> batchIds) {
    this.table = table;
    this.root = root;
    this.batchIds = batchIds;
  }

  // ---- Reading

  public List<TableRecord> tables() {
    return table.scan(MetadataSchema.tableRows()).stream().map(TableRecord::of).toList();
  }

  /** Null if there is no such table. */
  public @Nullable TableRecord table(String tableId) {
    Row row = table.read(tableRow(tableId));
    return row == null ? null : TableRecord.of(row);
  }

  /** Of all tables but the metadata's own. */
  public List<TabletRecord> tablets() {
    return table.scan(MetadataSchema.tabletRows()).stream().map(TabletRecord::of).toList();
  }

  public List<TabletRecord> tablets(String tableId) {
    return table.scan(MetadataSchema.tabletRows(tableId)).stream().map(TabletRecord::of).toList();
  }

  /** The tablets of a table from that which has {@code row} on. */
  public List<TabletRecord> tabletsFrom(String tableId, Bytes row) {
    return table.scan(MetadataSchema.tabletRowsFrom(tableId, row)).stream()
        .map(TabletRecord::of)
        .toList();
  }

  /**
   * Reads one tablet.
   *
   * @param row of the metadata table; null is the answer if it is gone
   */
  public @Nullable TabletRecord tablet(Bytes row) {
    Row found = table.read(row);
    return found == null ? null : TabletRecord.of(found);
  }

  /** The metadata tablet. */
  public TabletRecord rootTablet() {
    Row found = root.read(RootTable.ROW);
    if (found == null) {
      throw new IllegalStateException("the root has no row");
    }
    return TabletRecord.of(found);
  }

  /** Of the coordinator that came last; 0 before the first. */
  public long coordinatorEpoch() {
    Row row = table.read(COORDINATOR_ROW);
    Bytes epoch = row == null ? null : Columns.get(row, COORDINATOR_EPOCH);
    return epoch == null ? 0 : Long.parseLong(epoch.toUtf8());
  }

  /** Whether a table has the name. */
  public boolean isNameTaken(String name) {
    Row row = table.read(nameRow(name));
    return row != null && Columns.get(row, TABLE_ID_COLUMN) != null;
  }

  /** The files that nothing refers to any more. */
  public List<DeleteRecord> deletes() {
    return Stream.concat(
            root.scan(MetadataSchema.deleteRows()).stream(),
            table.scan(MetadataSchema.deleteRows()).stream())
        .map(DeleteRecord::of)
        .toList();
  }

  // ---- The owner's batches

  /**
   * Records a flush. The references to logs of former servers go: what those held is in files now.
   *
   * @param owner the tablet as it was opened: row, session and epoch count, and the log references
   *     that were replayed
   * @param added null: nothing new was to be written
   */
  public void commitFlush(
      TabletRecord owner, @Nullable FileRecord added, long flushed, long timeFloor) {
    MetadataBatch batch = ownersBatch(owner);
    if (added != null) {
      add(batch, owner, added);
    }
    batch.put(owner.row(), FLUSHED, Columns.of(flushed));
    batch.put(owner.row(), TIME_FLOOR, Columns.of(timeFloor));
    owner.logs().forEach(log -> batch.delete(owner.row(), new Column(LOGS, log.qualifier())));
    home(owner.tableId()).apply(batch);
  }

  /**
   * Records that a file took the place of others, for which delete rows are written.
   *
   * @param nowMillis when they lost their last reference
   */
  public void commitCompaction(
      TabletRecord owner, List<String> removed, @Nullable FileRecord added, long nowMillis) {
    MetadataBatch batch = ownersBatch(owner);
    for (String fileId : removed) {
      batch.delete(owner.row(), new Column(FILES, Bytes.of(fileId)));
      batch.put(
          deleteRow(owner.tableId(), fileId), DELETE_TIME, Bytes.of(Long.toString(nowMillis)));
    }
    if (added != null) {
      add(batch, owner, added);
    }
    home(owner.tableId()).apply(batch);
  }

  /** Where the rows of a table's tablets are. */
  private MetadataTable home(String tableId) {
    return tableId.equals(MetadataSchema.TABLE_ID) ? root : table;
  }

  private static void add(MetadataBatch batch, TabletRecord owner, FileRecord file) {
    batch.requireAbsent(deleteRow(owner.tableId(), file.fileId()), DELETE_TIME);
    batch.put(owner.row(), new Column(FILES, Bytes.of(file.fileId())), file.encode());
  }

  private MetadataBatch ownersBatch(TabletRecord owner) {
    String session = owner.session();
    if (session == null) {
      throw new IllegalArgumentException("tablet " + owner.tabletId() + " has no owner");
    }
    return new MetadataBatch(batchIds.get())
        .require(owner.row(), SESSION, Bytes.of(session))
        .require(owner.row(), EPOCH, decimal(owner.epoch()))
        .mark(owner.row(), OWNER_BATCH);
  }

  /** The files are gone from the store: their delete rows go. */
  public void commitDeletion(String tableId, List<String> fileIds) {
    if (fileIds.isEmpty()) {
      return;
    }
    MetadataBatch batch = new MetadataBatch(batchIds.get());
    fileIds.forEach(fileId -> batch.deleteRow(deleteRow(tableId, fileId)));
    home(tableId).apply(batch);
  }

  // ---- The coordinator's batches

  /**
   * Begins the work of a new coordinator: batches of those before it fail from now on.
   *
   * @return the epoch that its batches are conditional on
   */
  public long raiseCoordinatorEpoch() {
    Row row = table.read(COORDINATOR_ROW);
    Bytes before = row == null ? null : Columns.get(row, COORDINATOR_EPOCH);
    long epoch = before == null ? 1 : Long.parseLong(before.toUtf8()) + 1;
    MetadataBatch batch = new MetadataBatch(batchIds.get());
    if (before == null) {
      batch.requireAbsent(COORDINATOR_ROW, COORDINATOR_EPOCH);
    } else {
      batch.require(COORDINATOR_ROW, COORDINATOR_EPOCH, before);
    }
    table.apply(
        batch
            .put(COORDINATOR_ROW, COORDINATOR_EPOCH, Bytes.of(Long.toString(epoch)))
            .mark(COORDINATOR_ROW, COORDINATOR_BATCH));
    return epoch;
  }

  /**
   * Makes a table whose tablets may be assigned already.
   *
   * @throws SteleException CONSTRAINT if the name is taken
   */
  public void createTable(long coordinatorEpoch, TableRecord made, List<TabletRecord> tablets) {
    MetadataBatch batch = coordinatorsBatch(coordinatorEpoch);
    Bytes name = nameRow(made.name());
    batch.requireAbsent(name, TABLE_ID_COLUMN);
    batch.put(name, TABLE_ID_COLUMN, Bytes.of(made.id()));
    batch.mark(name, COORDINATOR_BATCH);
    made.write(batch);
    for (TabletRecord tablet : tablets) {
      batch.put(tablet.row(), TABLET_ID_COLUMN, Bytes.of(tablet.tabletId()));
      batch.put(
          tablet.row(),
          PREVIOUS_END_ROW,
          MetadataSchema.encodePreviousEndRow(tablet.previousEndRow()));
      putLocation(batch, tablet);
    }
    table.apply(batch);
  }

  /** The table's name is free from here on; what it holds goes in later steps. */
  public void beginDeletion(long coordinatorEpoch, TableRecord deleted) {
    MetadataBatch batch = coordinatorsBatch(coordinatorEpoch);
    Bytes name = nameRow(deleted.name());
    batch.require(name, TABLE_ID_COLUMN, Bytes.of(deleted.id()));
    batch.deleteRow(name);
    TableRecord.requireState(batch, deleted.id(), TableRecord.State.ONLINE);
    TableRecord.writeState(batch, deleted.id(), TableRecord.State.DELETING);
    table.apply(batch.mark(tableRow(deleted.id()), COORDINATOR_BATCH));
  }

  /** The rows of closed tablets of a table that is deleted go; their files get delete rows. */
  public void dropTablets(long coordinatorEpoch, List<TabletRecord> tablets, long nowMillis) {
    MetadataBatch batch = coordinatorsBatch(coordinatorEpoch);
    for (TabletRecord tablet : tablets) {
      TableRecord.requireState(batch, tablet.tableId(), TableRecord.State.DELETING);
      batch.deleteRow(tablet.row());
      for (FileRecord file : tablet.files()) {
        batch.put(
            deleteRow(tablet.tableId(), file.fileId()),
            DELETE_TIME,
            Bytes.of(Long.toString(nowMillis)));
      }
    }
    table.apply(batch);
  }

  /** The last row of a deleted table goes. */
  public void endDeletion(long coordinatorEpoch, String tableId) {
    table.apply(coordinatorsBatch(coordinatorEpoch).deleteRow(tableRow(tableId)));
  }

  /**
   * Gives tablets to servers.
   *
   * @param moves each from the row as it was read
   */
  public void assign(long coordinatorEpoch, List<Assignment> moves) {
    MetadataBatch batch = coordinatorsBatch(coordinatorEpoch);
    moves.forEach(move -> addMove(batch, move));
    table.apply(batch);
  }

  /**
   * Gives the metadata tablet to a server; the root's version stands for the coordinator's epoch.
   */
  public void assignRoot(Assignment move) {
    MetadataBatch batch = new MetadataBatch(batchIds.get());
    addMove(batch, move);
    root.apply(batch);
  }

  private static void addMove(MetadataBatch batch, Assignment move) {
    TabletRecord before = move.before();
    requireLocation(batch, before);
    putLocation(batch, move.after());
    for (LogReference log : move.after().logs()) {
      if (!before.logs().contains(log)) {
        batch.put(before.row(), new Column(LOGS, log.qualifier()), Bytes.EMPTY);
      }
    }
    batch.mark(before.row(), COORDINATOR_BATCH);
  }

  private static void requireLocation(MetadataBatch batch, TabletRecord tablet) {
    String session = tablet.session();
    batch.require(tablet.row(), TABLET_ID_COLUMN, Bytes.of(tablet.tabletId()));
    if (session == null) {
      batch.requireAbsent(tablet.row(), SESSION);
    } else {
      batch.require(tablet.row(), SESSION, Bytes.of(session));
    }
    if (tablet.epoch() == 0) {
      batch.requireAbsent(tablet.row(), EPOCH);
    } else {
      batch.require(tablet.row(), EPOCH, decimal(tablet.epoch()));
    }
  }

  private static void putLocation(MetadataBatch batch, TabletRecord tablet) {
    String session = tablet.session();
    String address = tablet.address();
    if (session != null && address != null) {
      batch.put(tablet.row(), SESSION, Bytes.of(session));
      batch.put(tablet.row(), ADDRESS, Bytes.of(address));
      batch.put(tablet.row(), EPOCH, decimal(tablet.epoch()));
    }
  }

  private MetadataBatch coordinatorsBatch(long coordinatorEpoch) {
    return new MetadataBatch(batchIds.get())
        .require(COORDINATOR_ROW, COORDINATOR_EPOCH, Bytes.of(Long.toString(coordinatorEpoch)));
  }

  private static Bytes decimal(int number) {
    return Bytes.of(Integer.toString(number));
  }

  /**
   * A change of a tablet's location.
   *
   * @param before as it was read
   * @param after with the new location, epoch and log references
   */
  public record Assignment(TabletRecord before, TabletRecord after) {}

  /**
   * A file that nothing refers to any more.
   *
   * @param sinceMillis when it lost its last reference, in milliseconds since 1970
   */
  public record DeleteRecord(String tableId, String fileId, long sinceMillis) {
    static DeleteRecord of(Row row) {
      String[] parts = MetadataSchema.deleteRowParts(row.key());
      String time = Columns.require(row, DELETE_TIME).toUtf8();
      return new DeleteRecord(parts[0], parts[1], Long.parseLong(time));
    }
  }
}
