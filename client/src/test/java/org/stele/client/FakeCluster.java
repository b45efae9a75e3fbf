package org.stele.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.MetadataSchema;
import org.stele.client.rpc.FakeServer;
import org.stele.core.coordination.ConnectString;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationOptions;
import org.stele.core.coordination.InstanceRecord;
import org.stele.core.coordination.RootRecord;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellType;
import org.stele.core.data.Column;
import org.stele.core.data.Extent;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Update;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.LookupResult;
import org.stele.core.thrift.MutationFailure;
import org.stele.core.thrift.ScanRequest;
import org.stele.core.thrift.ScanResult;
import org.stele.core.thrift.TabletService;
import org.stele.core.thrift.WriteResult;
import org.stele.core.time.Clock;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.core.wire.PackedMutations;
import org.stele.core.wire.SteleErrors;

/**
 * An instance of fake servers with ZooKeeper and metadata, whose tablets are split and moved, and
 * whose answers fail, as a test says. Each table's cells are one sorted map; which server may touch
 * which rows is checked for every call against the metadata, and metadata is told to clients as
 * real servers tell it. Puts only; the sequence of a cell is 0.
 */
final class FakeCluster implements AutoCloseable {
  static final String INSTANCE = "fake";
  private static final Comparator<byte[]> ORDER = java.util.Arrays::compareUnsigned;

  private final TestingServer zooKeeper;
  private final Coordination coordination;
  private final List<FakeServer> servers = new ArrayList<>();
  private final Map<String, NavigableMap<byte[], byte[]>> cells = new ConcurrentHashMap<>();
  private final AtomicLong time = new AtomicLong(1);
  private final AtomicInteger ids = new AtomicInteger();
  private final Random random = new Random(7);

  /** Asked for each call to a tablet of a table that is not the metadata's. */
  volatile Fault fault = (server, method, request) -> Effect.NONE;

  /** What {@link Effect#BUSY} proposes to wait. */
  volatile int retryAfterMillis = 1;

  /** Cells that a batch has at most; a row larger than that is cut. */
  volatile int batchCells = 1000;

  /** For each row, what to answer to a mutation of it. */
  final Map<Bytes, SteleException> refusedRows = new ConcurrentHashMap<>();

  final AtomicInteger writeCalls = new AtomicInteger();
  final AtomicInteger viewChanges = new AtomicInteger();

  /** Tells what happens to a call. */
  interface Fault {
    Effect of(int server, String method, FakeServer.Request request);
  }

  enum Effect {
    NONE,
    BUSY,
    NOT_SERVING,
    /** Done, but the connection is closed instead of an answer. */
    ANSWER_LOST,
    /** Not done, and the connection is closed. */
    CALL_LOST,
    /** Not done, no answer. */
    SILENCE
  }

  FakeCluster(int serverCount) throws Exception {
    zooKeeper = new TestingServer(true);
    coordination =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse(zooKeeper.getConnectString()),
                Duration.ofSeconds(30),
                Duration.ofSeconds(5)),
            Clock.system());
    coordination.awaitConnected(Duration.ofSeconds(30));
    for (int i = 0; i < serverCount; i++) {
      addServer(0);
    }
    SortedMap<Column, Bytes> root = RootRecord.emptyColumns();
    root.put(MetadataSchema.TABLET_ID_COLUMN, Bytes.of(MetadataSchema.TABLET_ID));
    root.put(MetadataSchema.SESSION, Bytes.of("s0"));
    root.put(MetadataSchema.ADDRESS, Bytes.of(servers.get(0).address()));
    coordination.initialize(new InstanceRecord(INSTANCE, 1), new RootRecord(root));
    cells.put(MetadataSchema.TABLE_ID, newMap());
  }

  private static NavigableMap<byte[], byte[]> newMap() {
    return new ConcurrentSkipListMap<>(ORDER);
  }

  private void addServer(int port) {
    int number = servers.size();
    servers.add(new FakeServer(INSTANCE, port, request -> handle(number, request)));
  }

  String connectString() {
    return zooKeeper.getConnectString();
  }

  FakeServer server(int number) {
    return servers.get(number);
  }

  int serverCount() {
    return servers.size();
  }

  /** Ends a server for good. */
  void kill(int number) {
    servers.get(number).close();
  }

  // ---- Tables and tablets

  /** Makes a table whose tablets are on the servers in turn. */
  String createTable(String name, List<Bytes> splits) {
    String id = "t" + ids.incrementAndGet();
    cells.put(id, newMap());
    putMetadata(MetadataSchema.tableRow(id), MetadataSchema.TABLE_NAME_COLUMN, Bytes.of(name));
    putMetadata(MetadataSchema.tableRow(id), MetadataSchema.TABLE_STATE, Bytes.of("online"));
    Bytes previous = null;
    int server = 0;
    for (Bytes split : splits) {
      putTablet(new Extent(id, previous, split), server++ % servers.size());
      previous = split;
    }
    putTablet(new Extent(id, previous, null), server % servers.size());
    putMetadata(MetadataSchema.nameRow(name), MetadataSchema.TABLE_ID_COLUMN, Bytes.of(id));
    return id;
  }

  synchronized void deleteTable(String name, String id) {
    for (Bytes row : List.of(MetadataSchema.nameRow(name), MetadataSchema.tableRow(id))) {
      removeMetadata(Range.row(row));
    }
    removeMetadata(MetadataSchema.tabletRows(id));
    cells.remove(id);
  }

  private void removeMetadata(Range range) {
    metadata().subMap(range.lowerKey(), range.upperKey()).clear();
  }

  private void putTablet(Extent extent, int server) {
    Bytes row = MetadataSchema.tabletRow(extent.tableId(), extent.endRow());
    Bytes id = Bytes.of("x" + ids.incrementAndGet());
    putMetadata(row, MetadataSchema.TABLET_ID_COLUMN, id);
    putMetadata(
        row,
        MetadataSchema.PREVIOUS_END_ROW,
        MetadataSchema.encodePreviousEndRow(extent.previousEndRow()));
    assign(row, server);
  }

  private void assign(Bytes tabletRow, int server) {
    putMetadata(tabletRow, MetadataSchema.SESSION, Bytes.of("s" + server));
    putMetadata(tabletRow, MetadataSchema.ADDRESS, Bytes.of(servers.get(server).address()));
  }

  private NavigableMap<byte[], byte[]> metadata() {
    return cells.get(MetadataSchema.TABLE_ID);
  }

  private void putMetadata(Bytes row, Column column, Bytes value) {
    put(metadata(), row, column.family(), column.qualifier(), Bytes.EMPTY, 1, value);
  }

  private static void put(
      NavigableMap<byte[], byte[]> map,
      Bytes row,
      Bytes family,
      Bytes qualifier,
      Bytes visibility,
      long timestamp,
      Bytes value) {
    map.put(
        KeyCodec.encode(row, family, qualifier, visibility, timestamp, 0, CellType.PUT),
        value.toArray());
  }

  /** Moves the tablet that has the row to a server. */
  synchronized void move(String tableId, Bytes row, int server) {
    Bytes tabletRow = tabletRow(tableId, row);
    if (tabletRow != null) {
      assign(tabletRow, server);
    }
  }

  /** Nobody serves the tablet that has the row. */
  synchronized void unassign(String tableId, Bytes row) {
    Bytes tabletRow = tabletRow(tableId, row);
    if (tabletRow != null) {
      removeMetadata(Range.column(tabletRow, MetadataSchema.SESSION));
      removeMetadata(Range.column(tabletRow, MetadataSchema.ADDRESS));
    }
  }

  /** Splits the tablet that has the row behind the row, if that makes two. */
  synchronized void split(String tableId, Bytes row, int serverOfFirst) {
    Extent extent = extentOf(tableId, row);
    if (extent == null || row.isEmpty() || row.equals(extent.endRow())) {
      return;
    }
    putTablet(new Extent(tableId, extent.previousEndRow(), row), serverOfFirst);
    putMetadata(
        MetadataSchema.tabletRow(tableId, extent.endRow()),
        MetadataSchema.PREVIOUS_END_ROW,
        MetadataSchema.encodePreviousEndRow(row));
  }

  /** Joins the tablet that has the row with the next. */
  synchronized void merge(String tableId, Bytes row) {
    Extent extent = extentOf(tableId, row);
    if (extent == null || extent.endRow() == null) {
      return;
    }
    Extent next = extentOf(tableId, KeyCodec.rowAfter(extent.endRow()));
    removeMetadata(Range.row(MetadataSchema.tabletRow(tableId, extent.endRow())));
    putMetadata(
        MetadataSchema.tabletRow(tableId, next.endRow()),
        MetadataSchema.PREVIOUS_END_ROW,
        MetadataSchema.encodePreviousEndRow(extent.previousEndRow()));
  }

  private @Nullable Bytes tabletRow(String tableId, Bytes row) {
    Range range = MetadataSchema.tabletRowsFrom(tableId, row);
    Map.Entry<byte[], byte[]> entry = metadata().ceilingEntry(range.lowerKey());
    if (entry == null || ORDER.compare(entry.getKey(), range.upperKey()) >= 0) {
      return null;
    }
    return KeyCodec.decode(entry.getKey()).row();
  }

  private @Nullable Extent extentOf(String tableId, Bytes row) {
    if (tableId.equals(MetadataSchema.TABLE_ID)) {
      return new Extent(tableId, null, null);
    }
    Bytes tabletRow = tabletRow(tableId, row);
    if (tabletRow == null) {
      return null;
    }
    Bytes previous = metadataValue(tabletRow, MetadataSchema.PREVIOUS_END_ROW);
    return new Extent(
        tableId,
        MetadataSchema.decodePreviousEndRow(previous),
        MetadataSchema.tabletEndRow(tabletRow));
  }

  private @Nullable Bytes metadataValue(Bytes row, Column column) {
    Range range = Range.column(row, column);
    Map.Entry<byte[], byte[]> entry = metadata().ceilingEntry(range.lowerKey());
    return entry == null || ORDER.compare(entry.getKey(), range.upperKey()) >= 0
        ? null
        : Bytes.of(entry.getValue());
  }

  /** The extent of the row's tablet, if the server serves it. */
  private synchronized Extent served(int server, String tableId, Bytes row) {
    Extent extent = extentOf(tableId, row);
    if (extent == null) {
      throw new SteleException(ErrorCode.UNKNOWN_TABLE, "no table " + tableId);
    }
    if (tableId.equals(MetadataSchema.TABLE_ID)) {
      return extent;
    }
    Bytes address =
        metadataValue(MetadataSchema.tabletRow(tableId, extent.endRow()), MetadataSchema.ADDRESS);
    if (address == null || !address.equals(Bytes.of(servers.get(server).address()))) {
      throw new SteleException(ErrorCode.NOT_SERVING, "not here: " + extent);
    }
    return extent;
  }

  // ---- Calls

  private void handle(int server, FakeServer.Request request) throws Exception {
    switch (request.method) {
      case "lookup" -> {
        TabletService.lookup_args arguments = request.arguments(new TabletService.lookup_args());
        String table = arguments.getRequest().getTableId();
        answer(
            server,
            table,
            request,
            new TabletService.lookup_result(),
            () -> {
              Bytes row = Bytes.wrap(arguments.getRequest().getRow());
              Extent extent = served(server, table, row);
              Batch batch =
                  batch(
                      table, extent, Range.row(row), null, arguments.getRequest().getColumns(), 0);
              LookupResult success = new LookupResult();
              success.setPacked(batch.packed());
              success.setMore(!batch.atEnd);
              return new TabletService.lookup_result(success, null);
            },
            e -> new TabletService.lookup_result(null, e));
      }
      case "scan" -> {
        ScanRequest scan = request.arguments(new TabletService.scan_args()).getRequest();
        answer(
            server,
            scan.getTableId(),
            request,
            new TabletService.scan_result(),
            () -> new TabletService.scan_result(scan(server, scan), null),
            e -> new TabletService.scan_result(null, e));
      }
      case "write" -> {
        TabletService.write_args arguments = request.arguments(new TabletService.write_args());
        writeCalls.incrementAndGet();
        String table = arguments.getRequest().getTableId();
        answer(
            server,
            table,
            request,
            new TabletService.write_result(),
            () -> {
              ByteBuffer packed = arguments.getRequest().bufferForPacked();
              byte[] bytes = Bytes.of(packed).toArray();
              WriteResult success =
                  write(server, table, PackedMutations.decode(bytes, 0, bytes.length));
              return new TabletService.write_result(success, null);
            },
            e -> new TabletService.write_result(null, e));
      }
      default -> throw new IllegalStateException("no method " + request.method);
    }
  }

  private interface Work<R> {
    R run();
  }

  private interface Failed<R> {
    R of(org.stele.core.thrift.SteleError error);
  }

  private <R extends org.apache.thrift.TBase<?, ?>> void answer(
      int server,
      String table,
      FakeServer.Request request,
      R unused,
      Work<R> work,
      Failed<R> failed)
      throws Exception {
    Effect effect =
        table.equals(MetadataSchema.TABLE_ID)
            ? Effect.NONE
            : fault.of(server, request.method, request);
    R result;
    try {
      result =
          switch (effect) {
            case BUSY -> throw SteleException.busy("told to be busy", retryAfterMillis);
            case NOT_SERVING ->
                throw new SteleException(ErrorCode.NOT_SERVING, "told not to serve");
            case SILENCE, CALL_LOST -> unused;
            default -> table.equals(MetadataSchema.TABLE_ID) ? atOneMoment(work) : work.run();
          };
    } catch (SteleException e) {
      result = failed.of(SteleErrors.toThrift(e));
    }
    switch (effect) {
      case SILENCE -> {
        // no answer
      }
      case ANSWER_LOST, CALL_LOST -> request.peer.close();
      default -> request.reply(result);
    }
  }

  /** The metadata's batches are atomic. */
  private synchronized <R> R atOneMoment(Work<R> work) {
    return work.run();
  }

  private WriteResult write(int server, String tableId, List<Mutation> mutations) {
    WriteResult result = new WriteResult();
    for (int i = 0; i < mutations.size(); i++) {
      Mutation mutation = mutations.get(i);
      try {
        synchronized (this) {
          served(server, tableId, mutation.row());
          SteleException refused = refusedRows.get(mutation.row());
          if (refused != null) {
            throw refused;
          }
          apply(cells.get(tableId), mutation);
        }
      } catch (SteleException e) {
        result.addToFailures(new MutationFailure(i, SteleErrors.toThrift(e)));
      }
    }
    return result;
  }

  private void apply(NavigableMap<byte[], byte[]> map, Mutation mutation) {
    for (Update update : mutation.updates()) {
      Long timestamp = update.timestamp();
      put(
          map,
          mutation.row(),
          update.family(),
          update.qualifier(),
          update.visibility(),
          timestamp == null ? time.incrementAndGet() : timestamp,
          update.value());
    }
  }

  /** Puts cells without a call. */
  void load(String tableId, Mutation mutation) {
    apply(cells.get(tableId), mutation);
  }

  // ---- Scans

  private static final class Batch {
    final PackedCellsWriter out = new PackedCellsWriter();
    byte @Nullable [] position;
    boolean atEnd;
    boolean rowContinues;

    byte[] packed() {
      return java.util.Arrays.copyOf(out.array(), out.length());
    }
  }

  private ScanResult scan(int server, ScanRequest request) {
    Range range = range(request.getRange());
    Bytes position = request.isSetPosition() ? Bytes.wrap(request.getPosition()) : null;
    Bytes startRow = range.startRow();
    Bytes row =
        position != null
            ? KeyCodec.decode(position.unsafeArray()).row()
            : startRow == null ? Bytes.EMPTY : startRow;
    Extent extent = served(server, request.getTableId(), row);
    ScanResult result = new ScanResult();
    org.stele.core.thrift.Extent wire = new org.stele.core.thrift.Extent(extent.tableId());
    if (extent.previousEndRow() != null) {
      wire.setPreviousEndRow(extent.previousEndRow().toArray());
    }
    if (extent.endRow() != null) {
      wire.setEndRow(extent.endRow().toArray());
    }
    result.setExtent(wire);
    boolean inRow = request.isSetReadSequence();
    if (inRow && chance(10)) {
      viewChanges.incrementAndGet();
      result.setAtEnd(false);
      result.setViewChanged(true);
      return result;
    }
    Batch batch =
        batch(
            request.getTableId(),
            extent,
            range,
            position,
            request.getColumns(),
            request.getMaxCells());
    result.setPacked(batch.packed());
    result.setAtEnd(batch.atEnd);
    if (batch.position != null) {
      result.setPosition(batch.position);
    }
    result.setRowContinues(batch.rowContinues);
    result.setReadSequence(99);
    return result;
  }

  private boolean chance(int percent) {
    synchronized (random) {
      return random.nextInt(100) < percent;
    }
  }

  /** Whole rows as long as they fit; also now and then nothing, though it is not the end. */
  private Batch batch(
      String tableId,
      Extent extent,
      Range range,
      @Nullable Bytes position,
      @Nullable List<org.stele.core.thrift.Column> columns,
      int maxCells) {
    Batch batch = new Batch();
    int most = maxCells == 0 ? batchCells : Math.min(batchCells, maxCells);
    if (tableId.equals(MetadataSchema.TABLE_ID)) {
      most = 1000;
    }
    byte[] from = range.lowerKey();
    Bytes previous = extent.previousEndRow();
    if (previous != null && ORDER.compare(KeyCodec.upperBound(previous), from) > 0) {
      from = KeyCodec.upperBound(previous);
    }
    byte[] to = range.upperKey();
    Bytes end = extent.endRow();
    if (end != null && (to == null || ORDER.compare(KeyCodec.upperBound(end), to) < 0)) {
      to = KeyCodec.upperBound(end);
    }
    if (position != null && ORDER.compare(position.unsafeArray(), from) > 0) {
      from = java.util.Arrays.copyOf(position.unsafeArray(), position.length() + 1);
    }
    if (to != null && ORDER.compare(from, to) >= 0) {
      batch.atEnd = true;
      return batch;
    }
    NavigableMap<byte[], byte[]> map = cells.get(tableId);
    NavigableMap<byte[], byte[]> part =
        to == null ? map.tailMap(from, true) : map.subMap(from, true, to, false);
    List<Map.Entry<byte[], byte[]>> row = new ArrayList<>();
    Bytes rowKey = null;
    byte[] before = null;
    boolean empty = !tableId.equals(MetadataSchema.TABLE_ID) && chance(5);
    for (Map.Entry<byte[], byte[]> entry : part.entrySet()) {
      Bytes current = KeyCodec.decode(entry.getKey()).row();
      if (!current.equals(rowKey)) {
        if (batch.out.cells() + row.size() >= most || (empty && rowKey != null)) {
          break;
        }
        flush(batch, row, columns);
        rowKey = current;
      } else if (batch.out.cells() == 0 && row.size() == most) {
        flush(batch, row, columns); // a row larger than the batch
        batch.rowContinues = true;
        batch.position = before;
        return batch;
      } else if (batch.out.cells() + row.size() == most) {
        row.clear(); // the row goes into the next batch
        batch.position = lastBefore(map, KeyCodec.lowerBound(current));
        return batch;
      }
      row.add(entry);
      before = entry.getKey();
    }
    if (empty && before != null) {
      batch.position = row.isEmpty() ? before : lastBefore(map, row.get(0).getKey());
      if (position == null || batch.position == null) {
        flush(batch, row, columns);
        batch.position = before;
      } else if (ORDER.compare(batch.position, position.unsafeArray()) < 0) {
        batch.position = position.toArray();
      }
      return batch;
    }
    flush(batch, row, columns);
    batch.atEnd = before == null || part.higherKey(before) == null;
    batch.position = batch.atEnd ? null : before;
    return batch;
  }

  private static byte @Nullable [] lastBefore(NavigableMap<byte[], byte[]> map, byte[] key) {
    return map.lowerKey(key);
  }

  private static void flush(
      Batch batch,
      List<Map.Entry<byte[], byte[]>> row,
      @Nullable List<org.stele.core.thrift.Column> columns) {
    for (Map.Entry<byte[], byte[]> entry : row) {
      byte[] key = entry.getKey();
      if (columns == null || columns.isEmpty() || wanted(KeyCodec.decode(key), columns)) {
        batch.out.add(key, 0, key.length, entry.getValue(), 0, entry.getValue().length);
      }
    }
    row.clear();
  }

  private static boolean wanted(
      KeyCodec.DecodedKey key, List<org.stele.core.thrift.Column> columns) {
    return columns.stream()
        .anyMatch(
            column ->
                Bytes.of(column.bufferForFamily()).equals(key.family())
                    && (!column.isSetQualifier()
                        || Bytes.of(column.bufferForQualifier()).equals(key.qualifier())));
  }

  private static Range range(org.stele.core.thrift.Range wire) {
    return new Range(
        wire.isSetStart() ? bound(wire.getStart(), wire.isStartInclusive()) : null,
        wire.isSetStop() ? bound(wire.getStop(), wire.isStopInclusive()) : null);
  }

  private static org.stele.core.data.Bound bound(org.stele.core.thrift.Key key, boolean inclusive) {
    List<Bytes> parts = new ArrayList<>();
    parts.add(Bytes.wrap(key.getRow()));
    if (key.isSetFamily()) {
      parts.add(Bytes.wrap(key.getFamily()));
    }
    if (key.isSetQualifier()) {
      parts.add(Bytes.wrap(key.getQualifier()));
    }
    if (key.isSetVisibility()) {
      parts.add(Bytes.wrap(key.getVisibility()));
    }
    return new org.stele.core.data.Bound(
        parts, key.isSetTimestamp() ? (Long) key.getTimestamp() : null, inclusive);
  }

  /** The model: what a scan of the range must give. */
  List<Cell> expected(String tableId, Range range) {
    List<Cell> all = new ArrayList<>();
    byte[] to = range.upperKey();
    NavigableMap<byte[], byte[]> tail = cells.get(tableId).tailMap(range.lowerKey(), true);
    for (Map.Entry<byte[], byte[]> entry : tail.entrySet()) {
      if (to != null && ORDER.compare(entry.getKey(), to) >= 0) {
        break;
      }
      KeyCodec.DecodedKey key = KeyCodec.decode(entry.getKey());
      all.add(
          new Cell(
              key.row(),
              key.family(),
              key.qualifier(),
              key.visibility(),
              key.timestamp(),
              Bytes.of(entry.getValue())));
    }
    return all;
  }

  @Override
  public void close() throws IOException {
    servers.forEach(FakeServer::close);
    coordination.close();
    zooKeeper.close();
  }
}
