package org.stele.client;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.Location;
import org.stele.client.location.Locations;
import org.stele.client.location.MetadataSchema;
import org.stele.client.location.RemoteMetadata;
import org.stele.client.location.TabletRow;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.retry.RetryPolicy;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.LookupAnswer;
import org.stele.client.rpc.RpcClient;
import org.stele.client.rpc.RpcOptions;
import org.stele.client.rpc.ServerCalls;
import org.stele.client.rpc.StatusAnswer;
import org.stele.client.rpc.TableCalls;
import org.stele.client.rpc.TabletCalls;
import org.stele.client.rpc.WriteAnswer;
import org.stele.client.rpc.WriteQuery;
import org.stele.core.coordination.ConnectString;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.coordination.CoordinationOptions;
import org.stele.core.coordination.InstanceRecord;
import org.stele.core.coordination.ServerRecord;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/**
 * What the parts of the API share: the ZooKeeper session, the connections, the known locations, and
 * how an operation is made of attempts. Owns all of them and the client's threads. Thread-safe.
 */
final class ClientCore implements AutoCloseable {
  private final ClientOptions options;
  private final Clock clock;
  private final Coordination coordination;
  private final InstanceRecord instance;
  private final RpcClient rpc;
  private final TabletCalls tabletCalls;
  private final TableCalls tableCalls;
  private final ServerCalls serverCalls;
  private final Locations locations;
  private final RetryPolicy retry;
  private final ClientThreads threads;
  private final CountDownLatch closed = new CountDownLatch(1);

  /** Ended with the client. */
  private final Set<BatchWriter> writers = ConcurrentHashMap.newKeySet();

  private ClientCore(
      ClientOptions options, Clock clock, Coordination coordination, InstanceRecord instance) {
    this.options = options;
    this.clock = clock;
    this.coordination = coordination;
    this.instance = instance;
    this.rpc =
        new RpcClient(
            new RpcOptions(
                options.connectTimeout(),
                options.connectionsPerServer(),
                options.maxReplyBytes(),
                options.tenant(),
                new SecureRandom().nextLong()),
            clock,
            instance::id);
    this.tabletCalls = new TabletCalls(rpc);
    this.tableCalls = new TableCalls(rpc);
    this.serverCalls = new ServerCalls(rpc);
    this.locations = new Locations(new RemoteMetadata(coordination, tabletCalls, clock), clock);
    this.retry =
        new RetryPolicy(options.retry(), clock, () -> ThreadLocalRandom.current().nextDouble());
    this.threads = new ClientThreads();
  }

  static ClientCore connect(String zooKeeper, ClientOptions options, Clock clock) {
    Coordination coordination =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse(zooKeeper), options.sessionTimeout(), options.connectTimeout()),
            clock);
    long end = clock.nanos() + options.deadline().toNanos();
    boolean connected = false;
    try {
      coordination.awaitConnected(options.deadline());
      Duration left = Duration.ofNanos(Math.max(0, end - clock.nanos()));
      InstanceRecord instance = coordination.readInstance(left);
      if (instance == null) {
        throw new SteleException(
            ErrorCode.UNAVAILABLE, "there is no Stele instance at " + coordination.connectString());
      }
      ClientCore core = new ClientCore(options, clock, coordination, instance);
      connected = true;
      return core;
    } catch (CoordinationException e) {
      if (e.reason() == CoordinationException.Reason.INTERRUPTED) {
        throw new OperationInterruptedException(false, "connecting to " + zooKeeper, e);
      }
      throw new SteleException(ErrorCode.UNAVAILABLE, String.valueOf(e.getMessage()), e);
    } finally {
      if (!connected) {
        coordination.close();
      }
    }
  }

  ClientOptions options() {
    return options;
  }

  String instanceId() {
    return instance.id();
  }

  Clock clock() {
    return clock;
  }

  TabletCalls tabletCalls() {
    return tabletCalls;
  }

  Locations locations() {
    return locations;
  }

  RetryPolicy retry() {
    return retry;
  }

  ClientThreads threads() {
    return threads;
  }

  long deadlineFromNow() {
    return clock.nanos() + options.deadline().toNanos();
  }

  /** The limits of an attempt that begins now, as long as the options give one attempt. */
  CallLimits limits(Attempts attempts) {
    return new CallLimits(
        attempts.attemptDeadlineNanos(options.attemptTimeout().toNanos()),
        attempts.attempt(),
        attempts.sinceFirstMillis());
  }

  /** The limits of an attempt that may use all the time there is. */
  private CallLimits longLimits(Attempts attempts) {
    return new CallLimits(
        attempts.deadlineNanos(), attempts.attempt(), attempts.sinceFirstMillis());
  }

  boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Waits between two attempts, or until the client is closed. */
  void pause(long nanos) throws InterruptedException {
    closed.await(nanos, TimeUnit.NANOSECONDS);
  }

  SteleException closedException() {
    return closedException(false);
  }

  SteleException closedException(boolean outcomeUnknown) {
    return new SteleException(
        outcomeUnknown ? ErrorCode.UNKNOWN_OUTCOME : ErrorCode.UNAVAILABLE, "the client is closed");
  }

  // ---- How operations are made of attempts

  /** Makes attempts until one succeeds or there is to be no other. */
  <R> R run(
      RetryPolicy.Operation operation, boolean changes, long deadlineNanos, Attempt<R> attempt) {
    Attempts attempts = retry.begin(operation, changes, deadlineNanos);
    try {
      while (true) {
        if (isClosed()) {
          throw closedException(attempts.isOutcomeUnknown());
        }
        try {
          return attempt.make(attempts);
        } catch (AttemptException e) {
          pause(attempts.failed(e));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(changes, operation.describe(), e);
    }
  }

  /** An operation on the tablet of a row. */
  private <R> R onTablet(
      String what, String table, Bytes row, boolean changes, TabletAttempt<R> attempt) {
    Freshness freshness = new Freshness(table);
    return run(
        () -> what + " of row " + row + " of table " + table,
        changes,
        deadlineFromNow(),
        attempts -> {
          while (true) {
            CallLimits limits = limits(attempts);
            Location location = null;
            try {
              String tableId = freshness.tableId(limits);
              location = locations.locate(tableId, row, limits);
              return attempt.make(location, tableId, limits);
            } catch (AttemptException e) {
              AttemptException named = at(location, e);
              if (!freshness.handled(location, e)) {
                throw named;
              }
              attempts.again(named);
            }
          }
        });
  }

  /** The failure with the tablet it happened at. */
  static AttemptException at(@Nullable Location location, AttemptException failure) {
    return location == null ? failure : failure.at(location.tabletId() + " " + location.extent());
  }

  /**
   * The known id of a table and whether it may be out of date; of one operation, used by one thread
   * at a time.
   */
  final class Freshness {
    private final String table;
    private @Nullable String used;
    private boolean wasCached;
    private boolean refreshed;

    Freshness(String table) {
      this.table = table;
    }

    String table() {
      return table;
    }

    /** Takes note of a known id that is used without asking {@link #tableId}. */
    void uses(String id) {
      if (!id.equals(used)) {
        used = id;
        wasCached = true;
      }
    }

    String tableId(CallLimits limits) throws InterruptedException {
      String cached = locations.cachedTableId(table);
      wasCached = cached != null;
      String id = cached != null ? cached : locations.tableId(table, limits);
      used = id;
      return id;
    }

    /**
     * Drops what the failure showed to be wrong.
     *
     * @return true: the failure came from the known id of a table that is not there any more, and
     *     the operation should go on at once with the id that the name has now
     */
    boolean handled(@Nullable Location location, AttemptException failure) {
      if (location != null && failure.refreshesLocation()) {
        locations.forget(location);
      }
      String id = used;
      if (failure.code() != ErrorCode.UNKNOWN_TABLE || id == null || refreshed) {
        return false;
      }
      locations.forgetTable(table, id);
      refreshed = true;
      return wasCached;
    }
  }

  // ---- Lookups and single writes

  Row lookup(String table, Bytes row, List<Column> columns) {
    requireRow(row);
    LookupAnswer answer =
        onTablet(
            "lookup",
            table,
            row,
            false,
            (location, tableId, limits) ->
                tabletCalls.lookup(location.address(), tableId, row, columns, limits));
    return answer.more() ? scanRow(table, row, columns) : new Row(row, answer.cells());
  }

  CompletableFuture<Row> lookupAsync(String table, Bytes row, List<Column> columns) {
    requireRow(row);
    AsyncOperation<LookupAnswer> operation =
        new AsyncOperation<>(
            this,
            "lookup",
            table,
            row,
            false,
            (location, tableId, limits, answer) ->
                tabletCalls.lookupAsync(location.address(), tableId, row, columns, limits, answer));
    return operation
        .start()
        .thenApply(
            answer -> answer.more() ? scanRow(table, row, columns) : new Row(row, answer.cells()));
  }

  /** A row that is larger than an answer. */
  private Row scanRow(String table, Bytes row, List<Column> columns) {
    List<Cell> cells = new ArrayList<>();
    try (Scanner scanner =
        new ScannerBuilder(this, table).range(Range.row(row)).columns(columns).open()) {
      scanner.forEach(cells::add);
    }
    return new Row(row, cells);
  }

  private static void requireRow(Bytes row) {
    if (row.isEmpty()) {
      throw new IllegalArgumentException("the row is empty: a row has at least one byte");
    }
  }

  void write(String table, Mutation mutation) {
    requireUpdates(mutation);
    onTablet(
        "write",
        table,
        mutation.row(),
        true,
        (location, tableId, limits) ->
            done(
                location.address(),
                tabletCalls.write(
                    location.address(), new WriteQuery(tableId, List.of(mutation), null), limits)));
  }

  CompletableFuture<Void> writeAsync(String table, Mutation mutation) {
    requireUpdates(mutation);
    AsyncOperation<WriteAnswer> operation =
        new AsyncOperation<>(
            this,
            "write",
            table,
            mutation.row(),
            true,
            (location, tableId, limits, answer) ->
                tabletCalls.writeAsync(
                    location.address(),
                    new WriteQuery(tableId, List.of(mutation), null),
                    limits,
                    new SingleWriteAnswer(location.address(), answer)));
    return operation.start().thenAccept(answer -> {});
  }

  static WriteAnswer done(String server, WriteAnswer answer) {
    if (!answer.failures().isEmpty()) {
      throw AttemptException.replied(server, answer.failures().get(0).error());
    }
    return answer;
  }

  static void requireUpdates(Mutation mutation) {
    if (mutation.updates().isEmpty()) {
      throw new IllegalArgumentException("the mutation of row " + mutation.row() + " is empty");
    }
  }

  // ---- Tables

  String createTable(String name, TableOptions table) {
    return onAnyServer(
        "creation of table " + name,
        true,
        (server, attempts) -> {
          try {
            return tableCalls.create(
                server, name, table.splits(), table.settings(), longLimits(attempts));
          } catch (AttemptException e) {
            throw e.code() == ErrorCode.TABLE_EXISTS && attempts.isOutcomeUnknown()
                ? e.at("it may have been made by an earlier attempt")
                : e;
          }
        });
  }

  void deleteTable(String name) {
    onAnyServer(
        "deletion of table " + name,
        true,
        (server, attempts) -> {
          try {
            tableCalls.delete(server, name, longLimits(attempts));
          } catch (AttemptException e) {
            if (e.code() != ErrorCode.UNKNOWN_TABLE || !attempts.isOutcomeUnknown()) {
              throw e;
            }
          }
          return name;
        });
    String id = locations.cachedTableId(name);
    if (id != null) {
      locations.forgetTable(name, id);
    }
  }

  void flushTable(String name) {
    onAnyServer(
        "flush of table " + name,
        false,
        (server, attempts) -> {
          tableCalls.flush(server, name, longLimits(attempts));
          return name;
        });
  }

  void compactTable(String name) {
    onAnyServer(
        "compaction of table " + name,
        false,
        (server, attempts) -> {
          tableCalls.compact(server, name, longLimits(attempts));
          return name;
        });
  }

  List<TableDescription> listTables() {
    Map<Bytes, List<Cell>> rows = new HashMap<>();
    try (Scanner scanner =
        new ScannerBuilder(this, MetadataSchema.TABLE_NAME)
            .range(MetadataSchema.tableRows())
            .open()) {
      for (Cell cell : scanner) {
        rows.computeIfAbsent(cell.row(), row -> new ArrayList<>()).add(cell);
      }
    }
    return rows.entrySet().stream()
        .map(entry -> description(new Row(entry.getKey(), entry.getValue())))
        .flatMap(Optional::stream)
        .sorted((a, b) -> a.name().compareTo(b.name()))
        .toList();
  }

  Optional<TableDescription> findTable(String name) {
    if (name.equals(MetadataSchema.TABLE_NAME)) {
      return Optional.of(new TableDescription(name, MetadataSchema.TABLE_ID, Map.of()));
    }
    return run(
        () -> "description of table " + name,
        false,
        deadlineFromNow(),
        attempts -> {
          CallLimits limits = limits(attempts);
          String id =
              MetadataRows.text(
                  locations.metadataRow(MetadataSchema.nameRow(name), limits),
                  MetadataSchema.TABLE_ID_COLUMN);
          return id == null
              ? Optional.empty()
              : description(locations.metadataRow(MetadataSchema.tableRow(id), limits))
                  .filter(table -> table.name().equals(name));
        });
  }

  private static Optional<TableDescription> description(Row row) {
    String name = MetadataRows.text(row, MetadataSchema.TABLE_NAME_COLUMN);
    String state = MetadataRows.text(row, MetadataSchema.TABLE_STATE);
    if (name == null || "deleting".equals(state)) {
      return Optional.empty();
    }
    Map<String, String> settings = new HashMap<>();
    for (Cell cell : row) {
      if (cell.family().equals(MetadataSchema.SETTINGS)) {
        settings.put(cell.qualifier().toUtf8(), cell.value().toUtf8());
      }
    }
    return Optional.of(new TableDescription(name, MetadataSchema.tableIdOf(row.key()), settings));
  }

  List<TabletInfo> tablets(String name) {
    return run(
        () -> "listing of the tablets of table " + name,
        false,
        deadlineFromNow(),
        attempts -> {
          Freshness freshness = new Freshness(name);
          while (true) {
            try {
              String id = freshness.tableId(limits(attempts));
              List<TabletInfo> tablets = new ArrayList<>();
              for (TabletRow row : locations.readTablets(id, limits(attempts))) {
                tablets.add(
                    new TabletInfo(
                        row.tabletId(), row.extent(), row.session(), row.address(), row.epoch()));
              }
              return tablets;
            } catch (AttemptException e) {
              if (!freshness.handled(null, e)) {
                throw e;
              }
            }
          }
        });
  }

  /** An operation that any living server takes; a failed attempt is followed by one at another. */
  private <R> R onAnyServer(String what, boolean changes, ServerAttempt<R> attempt) {
    List<String> failed = new ArrayList<>();
    return run(
        () -> what,
        changes,
        deadlineFromNow(),
        attempts -> {
          String server = anyServer(failed, attempts);
          try {
            return attempt.make(server, attempts);
          } catch (AttemptException e) {
            failed.add(server);
            throw e;
          }
        });
  }

  private String anyServer(List<String> failed, Attempts attempts) throws InterruptedException {
    List<String> living = new ArrayList<>();
    for (ServerInfo server : readServers(attempts.leftNanos())) {
      living.add(server.address());
    }
    if (living.isEmpty()) {
      throw AttemptException.notSent("(none)", "the instance has no server now", null);
    }
    List<String> untried = new ArrayList<>(living);
    untried.removeAll(failed);
    if (untried.isEmpty()) {
      failed.clear();
      untried = living;
    }
    return untried.get(ThreadLocalRandom.current().nextInt(untried.size()));
  }

  // ---- Servers

  List<ServerInfo> servers() {
    return run(
        () -> "listing of the servers",
        false,
        deadlineFromNow(),
        attempts -> readServers(attempts.leftNanos()));
  }

  private List<ServerInfo> readServers(long leftNanos) throws InterruptedException {
    try {
      List<ServerInfo> servers = new ArrayList<>();
      for (Map.Entry<String, ServerRecord> server :
          coordination.servers(Duration.ofNanos(Math.max(1, leftNanos))).entrySet()) {
        servers.add(
            new ServerInfo(
                server.getKey(), server.getValue().address(), server.getValue().version()));
      }
      return servers;
    } catch (CoordinationException e) {
      if (e.reason() == CoordinationException.Reason.INTERRUPTED) {
        Thread.interrupted();
        throw new InterruptedException("interrupted reading the servers");
      }
      throw AttemptException.notSent(
          "ZooKeeper " + coordination.connectString(), String.valueOf(e.getMessage()), e);
    }
  }

  ServerStatus serverStatus(String address) {
    StatusAnswer status =
        at(
            address,
            "status",
            false,
            deadlineFromNow(),
            limits -> serverCalls.status(address, limits));
    return new ServerStatus(
        status.instanceId(),
        status.session(),
        status.address(),
        status.version(),
        status.ready(),
        status.notReadyReason(),
        Duration.ofMillis(status.upMillis()),
        status.tablets(),
        status.counters());
  }

  Map<String, String> serverSettings(String address) {
    return at(
        address,
        "reading of settings",
        false,
        deadlineFromNow(),
        limits -> serverCalls.settings(address, limits));
  }

  Bytes ping(String address, Bytes payload, int replySize) {
    return at(
        address,
        "ping",
        false,
        deadlineFromNow(),
        limits -> serverCalls.ping(address, payload, replySize, limits));
  }

  private <R> R at(
      String address, String what, boolean changes, long deadlineNanos, AddressAttempt<R> attempt) {
    return run(
        () -> what + " at " + address,
        changes,
        deadlineNanos,
        attempts -> attempt.make(longLimits(attempts)));
  }

  // ---- Between servers

  void applyMetadata(String batchId, List<MetadataCondition> conditions, List<Mutation> mutations) {
    List<ServerCalls.ColumnValue> wanted =
        conditions.stream()
            .map(
                condition ->
                    new ServerCalls.ColumnValue(
                        condition.row(),
                        condition.family(),
                        condition.qualifier(),
                        condition.value()))
            .toList();
    onTablet(
        "metadata batch " + batchId,
        MetadataSchema.TABLE_NAME,
        Bytes.EMPTY,
        true,
        (location, tableId, limits) -> {
          serverCalls.applyMetadata(location.address(), batchId, wanted, mutations, limits);
          return batchId;
        });
  }

  void openTablets(String address, List<String> tabletIds) {
    command(
        address,
        "opening of tablets",
        deadlineFromNow(),
        limits -> serverCalls.openTablets(address, tabletIds, limits));
  }

  void closeTablet(String address, String tabletId, boolean flush, Duration deadline) {
    command(
        address,
        "closing of tablet " + tabletId,
        after(deadline),
        limits -> serverCalls.closeTablet(address, tabletId, flush, limits));
  }

  void flushTablet(String address, String tabletId, Duration deadline) {
    command(
        address,
        "flush of tablet " + tabletId,
        after(deadline),
        limits -> serverCalls.flushTablet(address, tabletId, limits));
  }

  void compactTablet(String address, String tabletId, Duration deadline) {
    command(
        address,
        "compaction of tablet " + tabletId,
        after(deadline),
        limits -> serverCalls.compactTablet(address, tabletId, limits));
  }

  Map<String, String> tabletStates(String address) {
    return at(
        address,
        "listing of tablets",
        false,
        deadlineFromNow(),
        limits -> serverCalls.tabletStates(address, limits));
  }

  private void command(String address, String what, long deadlineNanos, Command command) {
    at(
        address,
        what,
        false, // all commands are idempotent
        deadlineNanos,
        limits -> {
          command.make(limits);
          return what;
        });
  }

  private long after(Duration deadline) {
    return clock.nanos() + ClientOptions.positive("deadline", deadline).toNanos();
  }

  // ---- The end

  /** Registers a writer, so that it ends with the client. */
  void opened(BatchWriter writer) {
    writers.add(writer);
    if (isClosed()) {
      writer.abort();
    }
  }

  void ended(BatchWriter writer) {
    writers.remove(writer);
  }

  @Override
  public void close() {
    if (isClosed()) {
      return;
    }
    closed.countDown();
    writers.forEach(BatchWriter::abort);
    rpc.close();
    threads.close();
    coordination.close();
  }

  /** One attempt of an operation. */
  @FunctionalInterface
  interface Attempt<R> {
    R make(Attempts attempts) throws InterruptedException;
  }

  @FunctionalInterface
  private interface TabletAttempt<R> {
    R make(Location location, String tableId, CallLimits limits) throws InterruptedException;
  }

  @FunctionalInterface
  private interface ServerAttempt<R> {
    R make(String server, Attempts attempts) throws InterruptedException;
  }

  @FunctionalInterface
  private interface AddressAttempt<R> {
    R make(CallLimits limits) throws InterruptedException;
  }

  @FunctionalInterface
  private interface Command {
    void make(CallLimits limits) throws InterruptedException;
  }
}
