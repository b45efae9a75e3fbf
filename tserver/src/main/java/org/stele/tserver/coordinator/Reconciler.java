package org.stele.tserver.coordinator;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;
import org.stele.server.metadata.LogReference;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.MetadataStore.Assignment;
import org.stele.server.metadata.TableRecord;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.coordinator.LogFence.FencedLogs;

/**
 * Compares what should be with what is, and takes the steps from one to the other. A pass takes all
 * the steps that can be taken now; what it is not sure of it looks up again in the next pass, so it
 * may be cut off anywhere, and a new coordinator begins with nothing but the metadata.
 *
 * <pre>
 *   1. the metadata tablet is served: else fence its dead server, give it to a living one, open it
 *   2. the coordinator's epoch is raised, the metadata is read        (once, and after any failure)
 *   3. asked-for operations are recorded in the metadata
 *   4. tablets of dead servers: fence the server's logs, give the tablet to a living one
 *   5. servers open what they were given
 *   6. deleted tables: have their tablets closed, then drop the rows
 *   7. operations that are finished are answered
 * </pre>
 *
 * <p>One thread, the coordinator's. An exception ends a pass; {@link #forget} makes the next one
 * read everything anew.
 */
final class Reconciler {
  private static final Logger LOG = LoggerFactory.getLogger(Reconciler.class);

  /** Rows per batch: far below the largest record of the log. */
  private static final int BATCH_TABLETS = 500;

  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(10);

  // Constant.
  private final MetadataStore store;
  private final LiveServers liveServers;
  private final TabletCommands commands;
  private final LogFence fence;
  private final Leftovers leftovers;
  private final Supplier<String> ids;
  private final Clock clock;

  // Of the coordinator's thread.
  private final ClusterMirror mirror = new ClusterMirror();
  private final Map<String, FencedLogs> fenced = new HashMap<>();
  private final Map<String, TabletStatus> statuses = new HashMap<>();
  private final Deque<TableOperation> asked = new ArrayDeque<>();
  private final Map<String, TableOperation> recorded = new HashMap<>();
  private boolean rootServed;
  private long refreshedNanos;

  /** 0: not raised yet, or to be raised anew. */
  private long epoch;

  /**
   * @param ids gives ids of tables and tablets: random, never used before
   */
  Reconciler(
      MetadataStore store,
      LiveServers liveServers,
      TabletCommands commands,
      LogFence fence,
      Leftovers leftovers,
      Supplier<String> ids,
      Clock clock) {
    this.store = store;
    this.liveServers = liveServers;
    this.commands = commands;
    this.fence = fence;
    this.leftovers = leftovers;
    this.ids = ids;
    this.clock = clock;
    this.refreshedNanos = clock.nanos();
  }

  /** Asks for an operation; the next pass begins it. */
  void ask(TableOperation operation) {
    asked.addLast(operation);
  }

  /** Begins anew with what the metadata says: something failed, or the role was lost. */
  void forget() {
    epoch = 0;
    rootServed = false;
    statuses.clear();
  }

  /** Fails what is under way: this is the coordinator no more. */
  void resign() {
    forget();
    SteleException reason =
        new SteleException(
            ErrorCode.UNAVAILABLE, "the server that was asked is the coordinator no more");
    asked.forEach(operation -> operation.result().completeExceptionally(reason));
    asked.clear();
    recorded.values().forEach(operation -> operation.result().completeExceptionally(reason));
    recorded.clear();
  }

  /** The state of each tablet that was asked for last, by id. */
  Map<String, TabletStatus> statuses() {
    return statuses;
  }

  PassResult pass() throws IOException {
    Map<String, String> servers = liveServers.bySession();
    if (servers.isEmpty() || !serveRoot(servers)) {
      expireOperations();
      return PassResult.WAITING;
    }
    if (epoch == 0) {
      epoch = store.raiseCoordinatorEpoch();
      mirror.load(store.tables(), store.tablets());
      store.deletes().forEach(leftovers::collect);
      LOG.info("coordinator with epoch {}, {} tablets", epoch, mirror.tablets().size());
    }
    record(servers);
    refreshStatuses();
    assign(servers);
    boolean open = openAssigned(servers);
    boolean deleted = dropDeleted(servers);
    answer();
    expireOperations();
    return open && deleted ? PassResult.SETTLED : PassResult.WAITING;
  }

  // ---- The metadata tablet

  /** Whether a living server has the metadata tablet. */
  boolean isRootServed() {
    String session = store.rootTablet().session();
    return session != null && liveServers.bySession().containsKey(session);
  }

  private boolean serveRoot(Map<String, String> servers) throws IOException {
    TabletRecord root = store.rootTablet();
    String session = root.session();
    rootServed &= session != null && servers.containsKey(session);
    if (!rootServed) {
      if (session == null || !servers.containsKey(session)) {
        root = assignRoot(root, servers);
      }
      rootServed = isOpen(root, servers);
    }
    return rootServed;
  }

  private TabletRecord assignRoot(TabletRecord root, Map<String, String> servers)
      throws IOException {
    String dead = root.session();
    List<LogReference> logs = new ArrayList<>(root.logs());
    if (dead != null && fencedLogs(dead).meta()) {
      logs.add(new LogReference(dead, root.epoch()));
    }
    Placement placement = new Placement(servers, mirror.load());
    String session = placement.next();
    TabletRecord after =
        root.withLogs(logs).assigned(session, placement.address(session), root.epoch() + 1);
    store.assignRoot(new Assignment(root, after));
    LOG.info("the metadata tablet goes to {} (session {})", after.address(), session);
    return after;
  }

  private boolean isOpen(TabletRecord tablet, Map<String, String> servers) {
    String address = servers.getOrDefault(tablet.session(), "");
    TabletStatus status = commands.states(address).get(tablet.tabletId());
    if (status == null) {
      commands.open(address, List.of(tablet.tabletId()));
      return false;
    }
    statuses.put(tablet.tabletId(), status);
    return status.isOpen();
  }

  private FencedLogs fencedLogs(String session) throws IOException {
    FencedLogs logs = fenced.get(session);
    if (logs == null) {
      LOG.info("fencing session {}", session);
      logs = fence.fence(session);
      fenced.put(session, logs);
    }
    return logs;
  }

  // ---- Operations are recorded

  private void record(Map<String, String> servers) {
    while (true) {
      TableOperation operation = asked.peekFirst();
      if (operation == null) {
        return;
      }
      try {
        if (operation instanceof TableOperation.Create create) {
          record(create, servers);
        } else if (operation instanceof TableOperation.Delete delete) {
          record(delete);
        }
      } catch (SteleException e) {
        asked.removeFirst();
        operation.result().completeExceptionally(named(operation, e));
        if (e.code() == ErrorCode.UNKNOWN_TABLE || e.code() == ErrorCode.TABLE_EXISTS) {
          continue;
        }
        throw e; // the metadata may have changed or not: all is read anew
      }
      asked.removeFirst();
    }
  }

  /** What a condition that does not hold means to the one who asked. */
  private SteleException named(TableOperation operation, SteleException e) {
    if (e.code() != ErrorCode.CONSTRAINT) {
      return e;
    }
    try {
      if (store.coordinatorEpoch() != epoch) {
        return new SteleException(
            ErrorCode.UNAVAILABLE, "another server became coordinator: " + e.getMessage(), e);
      }
      if (operation instanceof TableOperation.Create create && store.isNameTaken(create.name())) {
        return new SteleException(
            ErrorCode.TABLE_EXISTS, "there is a table " + create.name() + " already", e);
      }
    } catch (SteleException unread) {
      e.addSuppressed(unread);
    }
    return new SteleException(
        ErrorCode.UNAVAILABLE,
        "the metadata is not as the coordinator knew it: " + e.getMessage(),
        e);
  }

  private void record(TableOperation.Create create, Map<String, String> servers) {
    if (mirror.tableNamed(create.name()) != null) {
      throw new SteleException(
          ErrorCode.TABLE_EXISTS, "there is a table " + create.name() + " already");
    }
    TableRecord table =
        new TableRecord(ids.get(), create.name(), TableRecord.State.ONLINE, create.settings());
    List<TabletRecord> tablets = new ArrayList<>();
    Placement placement = new Placement(servers, mirror.load());
    Bytes previous = null;
    for (Bytes split : create.splits()) {
      tablets.add(place(placement, table.id(), previous, split));
      previous = split;
    }
    tablets.add(place(placement, table.id(), previous, null));
    store.createTable(epoch, table, tablets);
    mirror.put(table);
    tablets.forEach(mirror::put);
    recorded.put(table.id(), create);
    LOG.info("table {} (id {}) made with {} tablets", table.name(), table.id(), tablets.size());
  }

  private TabletRecord place(
      Placement placement, String tableId, @Nullable Bytes previous, @Nullable Bytes end) {
    String session = placement.next();
    return TabletRecord.unassigned(ids.get(), tableId, previous, end)
        .assigned(session, placement.address(session), 1);
  }

  private void record(TableOperation.Delete delete) {
    TableRecord table = mirror.tableNamed(delete.name());
    if (table == null) {
      throw new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table " + delete.name());
    }
    store.beginDeletion(epoch, table);
    mirror.put(
        new TableRecord(table.id(), table.name(), TableRecord.State.DELETING, table.settings()));
    TableOperation before = recorded.put(table.id(), delete);
    if (before != null) {
      before
          .result()
          .completeExceptionally(
              new SteleException(
                  ErrorCode.UNKNOWN_TABLE, "table " + table.name() + " was deleted meanwhile"));
    }
    LOG.info("table {} (id {}) is deleted", table.name(), table.id());
  }

  // ---- Tablets without a living server

  private void assign(Map<String, String> servers) throws IOException {
    Placement placement = new Placement(servers, living(mirror.load(), servers));
    List<Assignment> moves = new ArrayList<>();
    for (TabletRecord tablet : mirror.tablets()) {
      String session = tablet.session();
      if (!mirror.isOnline(tablet) || session != null && servers.containsKey(session)) {
        continue;
      }
      moves.add(move(tablet, placement));
    }
    for (int from = 0; from < moves.size(); from += BATCH_TABLETS) {
      List<Assignment> batch = moves.subList(from, Math.min(moves.size(), from + BATCH_TABLETS));
      store.assign(epoch, batch);
      batch.forEach(
          move -> {
            mirror.put(move.after());
            statuses.remove(move.after().tabletId());
          });
      LOG.info("{} tablets have a new server", batch.size());
    }
  }

  private Assignment move(TabletRecord tablet, Placement placement) throws IOException {
    String dead = tablet.session();
    List<LogReference> logs = new ArrayList<>(tablet.logs());
    if (dead != null && fencedLogs(dead).data()) {
      logs.add(new LogReference(dead, tablet.epoch()));
    }
    String session = placement.next();
    return new Assignment(
        tablet,
        tablet.withLogs(logs).assigned(session, placement.address(session), tablet.epoch() + 1));
  }

  private static Map<String, Integer> living(
      Map<String, Integer> load, Map<String, String> servers) {
    Map<String, Integer> living = new HashMap<>(load);
    living.keySet().retainAll(servers.keySet());
    return living;
  }

  // ---- Opening

  /** A tablet that was open may be so no more: all servers are asked again from time to time. */
  private void refreshStatuses() {
    if (clock.nanos() - refreshedNanos >= REFRESH_NANOS) {
      refreshedNanos = clock.nanos();
      statuses.clear();
    }
  }

  /** Has servers open what they were given; false while anything is not open and may become so. */
  private boolean openAssigned(Map<String, String> servers) {
    Map<String, List<TabletRecord>> waiting = new HashMap<>();
    for (TabletRecord tablet : mirror.tablets()) {
      String session = tablet.session();
      TabletStatus status = statuses.get(tablet.tabletId());
      if (session != null && mirror.isOnline(tablet) && (status == null || !status.isOpen())) {
        waiting.computeIfAbsent(session, any -> new ArrayList<>()).add(tablet);
      }
    }
    boolean settled = true;
    for (Map.Entry<String, List<TabletRecord>> server : waiting.entrySet()) {
      String address = servers.getOrDefault(server.getKey(), "");
      settled &= openOn(address, server.getValue());
    }
    return settled;
  }

  /** A server that does not answer is asked again in the next pass, and holds up no other. */
  private @Nullable Map<String, TabletStatus> statesAt(String address) {
    try {
      return commands.states(address);
    } catch (SteleException e) {
      LOG.warn("the server at {} does not say which tablets it has", address, e);
      return null;
    }
  }

  private boolean openOn(String address, List<TabletRecord> tablets) {
    Map<String, TabletStatus> states = statesAt(address);
    if (states == null) {
      return false;
    }
    List<String> missing = new ArrayList<>();
    boolean settled = true;
    for (TabletRecord tablet : tablets) {
      TabletStatus status = states.get(tablet.tabletId());
      if (status == null) {
        missing.add(tablet.tabletId());
        settled = false;
      } else {
        statuses.put(tablet.tabletId(), status);
        settled &= status.isOpen() || status.state() == TabletStatus.State.FAILED;
      }
    }
    if (!missing.isEmpty()) {
      open(address, missing);
    }
    return settled;
  }

  private void open(String address, List<String> tabletIds) {
    try {
      commands.open(address, tabletIds);
    } catch (SteleException e) {
      LOG.warn("the server at {} was told in vain to open tablets {}", address, tabletIds, e);
    }
  }

  // ---- Deleted tables

  /** False while tablets of a deleted table are open somewhere. */
  private boolean dropDeleted(Map<String, String> servers) {
    boolean done = true;
    for (TableRecord table : mirror.deleting()) {
      List<TabletRecord> tablets = mirror.tabletsOf(table.id());
      if (areClosed(tablets, servers)) {
        drop(table, tablets);
      } else {
        done = false;
      }
    }
    return done;
  }

  /** Has those that are not closed closed; later passes see that they are. */
  private boolean areClosed(List<TabletRecord> tablets, Map<String, String> servers) {
    Map<String, List<TabletRecord>> byAddress = new HashMap<>();
    for (TabletRecord tablet : tablets) {
      String address = servers.get(tablet.session() == null ? "" : tablet.session());
      if (address != null) {
        byAddress.computeIfAbsent(address, any -> new ArrayList<>()).add(tablet);
      }
    }
    boolean closed = true;
    for (Map.Entry<String, List<TabletRecord>> server : byAddress.entrySet()) {
      Map<String, TabletStatus> states = statesAt(server.getKey());
      if (states == null) {
        closed = false;
        continue;
      }
      for (TabletRecord tablet : server.getValue()) {
        if (states.containsKey(tablet.tabletId())) {
          commands.close(server.getKey(), tablet.tabletId(), false);
          closed = false;
        }
      }
    }
    return closed;
  }

  private void drop(TableRecord table, List<TabletRecord> tablets) {
    // Their files are known from the rows only, now that nobody changes these any more.
    List<TabletRecord> rows = store.tablets(table.id());
    for (int from = 0; from < rows.size(); from += BATCH_TABLETS) {
      store.dropTablets(
          epoch,
          rows.subList(from, Math.min(rows.size(), from + BATCH_TABLETS)),
          clock.wallMillis());
    }
    store.endDeletion(epoch, table.id());
    store.deletes().stream()
        .filter(file -> file.tableId().equals(table.id()))
        .forEach(leftovers::collect);
    mirror.removeTablets(tablets);
    mirror.removeTable(table.id());
    tablets.forEach(tablet -> statuses.remove(tablet.tabletId()));
    LOG.info("table {} (id {}) is gone", table.name(), table.id());
  }

  // ---- Answers

  private void answer() {
    for (Iterator<Map.Entry<String, TableOperation>> each = recorded.entrySet().iterator();
        each.hasNext(); ) {
      Map.Entry<String, TableOperation> entry = each.next();
      boolean done =
          entry.getValue() instanceof TableOperation.Delete
              ? mirror.table(entry.getKey()) == null
              : isServed(entry.getKey());
      if (done) {
        each.remove();
        entry.getValue().result().complete(entry.getKey());
      }
    }
  }

  private boolean isServed(String tableId) {
    return mirror.tabletsOf(tableId).stream()
        .allMatch(
            tablet -> {
              TabletStatus status = statuses.get(tablet.tabletId());
              return status != null && status.isOpen();
            });
  }

  private void expireOperations() {
    long now = clock.nanos();
    asked.removeIf(operation -> expire(operation, now, "was not begun"));
    recorded.values().removeIf(operation -> expire(operation, now, "goes on, but is not done"));
  }

  private static boolean expire(TableOperation operation, long now, String what) {
    if (now - operation.deadlineNanos() < 0) {
      return false;
    }
    return operation
        .result()
        .completeExceptionally(
            new SteleException(
                ErrorCode.DEADLINE_EXCEEDED, "the table operation " + what + " at its deadline"));
  }
}
