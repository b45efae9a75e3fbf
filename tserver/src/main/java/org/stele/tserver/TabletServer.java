package org.stele.tserver;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.core.coordination.ConnectString;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationException;
import org.stele.core.coordination.CoordinationOptions;
import org.stele.core.coordination.ServerNode;
import org.stele.core.coordination.ServerRecord;
import org.stele.core.coordination.SessionState;
import org.stele.core.file.FileLock;
import org.stele.core.file.FileLockedException;
import org.stele.core.file.FileStore;
import org.stele.core.net.TlsOptions;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.core.time.Clock;
import org.stele.server.hadoop.FileStores;
import org.stele.server.metadata.Backoff;
import org.stele.server.metadata.ClientMetadataTable;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.RootTable;
import org.stele.server.process.Closer;
import org.stele.server.process.StartException;
import org.stele.server.process.Stop;
import org.stele.server.rpc.ReplyBatch;
import org.stele.server.rpc.RpcServer;
import org.stele.tserver.coordinator.Coordinator;
import org.stele.tserver.coordinator.TableTasks;
import org.stele.tserver.recovery.LogDirectories;
import org.stele.tserver.service.ServerMethods;
import org.stele.tserver.wal.GroupCommitLog;
import org.stele.tserver.wal.WriteAheadLog;

/**
 * The composition root of a tablet server: makes all parts in the order in which they need each
 * other, starts them in that order, and closes them in the reverse. No part knows this class.
 *
 * <pre>
 *   session with ZooKeeper, file store, instance id
 *   logs, metadata (by a client)
 *   engine: memory, cache, files, flusher, compactor, tablets, stages
 *   coordinator, methods
 *   endpoint listens                             no tablets yet: calls get NOT_SERVING
 *   lock node in ZooKeeper, lease                the server exists
 *   coordinator stands for its role              tablets are given out and opened
 * </pre>
 *
 * <p>An orderly close flushes and closes all tablets while everything still works; then the
 * server's own logs are not needed and go too. Started and closed by one thread.
 */
public final class TabletServer {
  private static final Logger LOG = LoggerFactory.getLogger(TabletServer.class);

  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(20);
  private static final Duration CLIENT_DEADLINE = Duration.ofSeconds(30);
  private static final Duration LOG_CLOSE_LIMIT = Duration.ofSeconds(10);
  private static final long META_LOG_BYTES = 16 << 20;
  private static final Duration LEFTOVERS_EVERY = Duration.ofSeconds(5);
  private static final long LEASE_LOOK_MILLIS = 500;
  private static final int ID_BYTES = 6;
  private static final int TASK_THREADS = 4;
  private static final int TASK_QUEUE = 256;

  // Constant.
  private final Given given;
  private final SecureRandom random = new SecureRandom();

  // Written by start().
  private volatile @Nullable ServerNode node;
  private volatile @Nullable RpcServer endpoint;
  private volatile @Nullable ServerState state;
  private volatile @Nullable Readiness readiness;

  /**
   * What a server is started with.
   *
   * @param store opens the file store, which becomes the server's
   * @param newInstanceId id of the instance if there is none yet
   * @param stop hears of what must end the server
   * @param closer gets every part as it is made
   */
  public record Given(
      Settings settings,
      StoreOpening store,
      String newInstanceId,
      Clock clock,
      Stop stop,
      Closer closer) {}

  /** How a server comes to its file store. */
  @FunctionalInterface
  public interface StoreOpening {
    FileStore open() throws IOException;
  }

  private TabletServer(Given given) {
    this.given = given;
  }

  /** Starts a server and returns when it listens; its tablets are opened afterwards. */
  public static TabletServer start(Given given) throws IOException {
    TabletServer server = new TabletServer(given);
    server.start();
    return server;
  }

  private void start() throws IOException {
    Clock clock = given.clock;
    Closer closer = given.closer;
    Coordination zookeeper = closer.add("ZooKeeper session", connect());
    FileStore store = openStore();
    String instanceId =
        InstanceIdentity.establish(zookeeper, store, given.newInstanceId, CONNECT_LIMIT);
    String session = zookeeper.session();
    LogDirectories directories =
        new LogDirectories(store, path -> FileStores.recoverLease(store, path));
    OwnLogs ownLogs = closer.add("log directory", new OwnLogs(directories, session));
    directories.make(session);
    long logBytes = given.settings.get(StandardSettings.WAL_SIZE);
    WriteAheadLog metaLog =
        startLog(
            store,
            new GroupCommitLog.Options(
                LogDirectories.meta(session),
                instanceId,
                session,
                "meta-",
                Math.min(logBytes, META_LOG_BYTES),
                given.settings.get(StandardSettings.WAL_QUEUE_BYTES),
                LOG_CLOSE_LIMIT));
    WriteAheadLog log =
        startLog(
            store,
            new GroupCommitLog.Options(
                LogDirectories.data(session),
                instanceId,
                session,
                "",
                logBytes,
                given.settings.get(StandardSettings.WAL_QUEUE_BYTES),
                LOG_CLOSE_LIMIT));

    SteleClient client =
        closer.add("client", connectClient(zookeeper.connectString(), given.settings));
    Backoff backoff = new Backoff(random::nextDouble, TimeUnit.NANOSECONDS::sleep);
    MetadataStore metadata =
        new MetadataStore(
            new ClientMetadataTable(client, clock, backoff),
            new RootTable(zookeeper, session, CLIENT_DEADLINE, clock, backoff),
            batchIds(session));
    Engine engine =
        new Engine(
            new Engine.Basis(
                given.settings,
                clock,
                store,
                directories,
                session,
                log,
                metaLog,
                metadata,
                this::holdsLease),
            closer);
    ClientTabletCommands commands =
        closer.add("commands to servers", new ClientTabletCommands(client, clock));
    Coordinator coordinating =
        new Coordinator(
            metadata,
            () -> addresses(zookeeper),
            commands,
            directories,
            new FileLeftovers(store, engine.collector),
            LEFTOVERS_EVERY,
            this::newId,
            clock,
            listener -> zookeeper.stand(address(), listener));
    Readiness ready =
        new Readiness(
            this::lease,
            zookeeper.connectString().toString(),
            new Readiness.Tablets() {
              @Override
              public boolean wereSettled() {
                return coordinating.wasSettled();
              }

              @Override
              public @Nullable String trouble() {
                return coordinating.trouble();
              }
            },
            engine.owned::statuses,
            clock);
    readiness = ready;
    ServerState self =
        new ServerState(
            instanceId,
            session,
            given.settings,
            engine.tablets,
            () -> counters(engine),
            ready::notReadyReason,
            clock);
    state = self;
    ThreadPoolExecutor tasks = taskThreads();
    closer.add("table tasks", tasks::shutdownNow);

    listen(
        new ServerMethods.Stages(
            engine.lookups,
            engine.scans,
            engine.writes,
            engine.conditional,
            engine.owned,
            engine.tablets,
            engine.opener,
            engine.flusher,
            engine.compactor,
            coordinating,
            new TableTasks(metadata, commands),
            tasks,
            self),
        self);
    ownLogs.needed();
    exist(zookeeper, session);
    closer.add(
        "tablets",
        new OpenTablets(engine.tablets, engine.opener, clock, given.stop, ownLogs::allFlushed));
    closer.add("watch of servers", zookeeper.watchServers(coordinating::nudge));
    closer.add("coordinator", coordinating.start());
  }

  // ---- Parts

  private Coordination connect() {
    Settings settings = given.settings;
    Coordination zookeeper =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse(settings.get(StandardSettings.ZOOKEEPER_CONNECT)),
                settings.get(StandardSettings.ZOOKEEPER_SESSION_TIMEOUT),
                CONNECT_LIMIT),
            given.clock);
    try {
      zookeeper.awaitConnected(CONNECT_LIMIT);
    } catch (CoordinationException e) {
      zookeeper.close();
      throw e;
    }
    zookeeper.addListener(
        sessionState -> {
          if (sessionState == SessionState.EXPIRED) {
            given.stop.fatal(
                "the session with ZooKeeper is over: other servers may have the tablets", null);
          }
        });
    return zookeeper;
  }

  /** On a local disk the store is this process's alone. */
  private FileStore openStore() throws IOException {
    FileStore store = given.closer.add("file store", given.store.open());
    if (FileStores.isLocal(store.root())) {
      given.closer.add("lock of the store", lock(Path.of(store.root())));
    }
    return store;
  }

  private static FileLock lock(Path root) throws IOException {
    try {
      return FileLock.acquire(root.resolve("lock"));
    } catch (FileLockedException e) {
      throw new StartException(
          "the files in " + root + " are those of a server that runs: on a local disk there is one",
          e);
    }
  }

  private WriteAheadLog startLog(FileStore store, GroupCommitLog.Options options)
      throws IOException {
    return given.closer.add(
        "log " + options.directory(),
        GroupCommitLog.start(
            store,
            options,
            given.clock,
            random::nextLong,
            cause ->
                given.stop.fatal(
                    "the write-ahead log "
                        + options.directory()
                        + " is broken: "
                        + cause.getMessage(),
                    cause),
            TabletServer::answerTogether));
  }

  /** The answers to the writes of one group leave in one write per connection. */
  @SuppressWarnings("try") // it is enough that the batch is open meanwhile
  private static void answerTogether(Runnable tellAll) {
    try (ReplyBatch batch = ReplyBatch.open()) {
      tellAll.run();
    }
  }

  /** Every server is a client of the others, and of itself. */
  private static SteleClient connectClient(ConnectString connect, Settings settings) {
    ClientOptions options = ClientOptions.defaults().withDeadline(CLIENT_DEADLINE);
    return SteleClient.connect(
        connect.toString(),
        TlsOptions.isWanted(settings) ? options.withTls(TlsOptions.of(settings)) : options);
  }

  private static Supplier<String> batchIds(String session) {
    AtomicLong next = new AtomicLong(1);
    return () -> session + "-" + next.getAndIncrement();
  }

  private String newId() {
    byte[] id = new byte[ID_BYTES];
    random.nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  private static ThreadPoolExecutor taskThreads() {
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            TASK_THREADS,
            TASK_THREADS,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(TASK_QUEUE),
            task -> {
              Thread thread = new Thread(task, "table-task-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  private void listen(ServerMethods.Stages stages, ServerState self) throws IOException {
    RpcServer listening =
        given.closer.add(
            "endpoint",
            new RpcServer(
                given.settings,
                ServerMethods.of(stages),
                given.clock,
                self.instanceId(),
                random.nextLong()));
    endpoint = listening;
    listening.start();
    self.listensAt(
        AdvertisedAddress.of(
            given.settings.get(StandardSettings.RPC_ADVERTISE_ADDRESS),
            given.settings.get(StandardSettings.RPC_BIND_ADDRESS),
            listening.address().getPort()));
    LOG.info("listening at {}, clients are told {}", listening.address(), self.address());
  }

  /** Makes the lock node; from now on the server may get tablets. */
  private void exist(Coordination zookeeper, String session) {
    ServerNode made =
        given.closer.add(
            "lock node",
            zookeeper.createServerNode(new ServerRecord(address(), Release.version(), Map.of())));
    if (!made.session().equals(session)) {
      throw new StartException("the session with ZooKeeper ended during the start");
    }
    node = made;
    ScheduledExecutorService watch =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "lock-node-watch");
              thread.setDaemon(true);
              return thread;
            });
    var unused =
        watch.scheduleWithFixedDelay(
            () -> endIfLost(made), LEASE_LOOK_MILLIS, LEASE_LOOK_MILLIS, TimeUnit.MILLISECONDS);
    given.closer.add("lock node watch", watch::shutdownNow);
    LOG.info("session {}, at {}", session, address());
  }

  private void endIfLost(ServerNode held) {
    if (!held.isLost()) {
      return;
    }
    Throwable failure = held.failure();
    given.stop.fatal(
        failure == null
            ? "the lock node of session "
                + held.session()
                + " is gone: other servers may have the tablets"
            : "the lease of session " + held.session() + " cannot be renewed: " + failure,
        failure);
  }

  private static Map<String, String> addresses(Coordination zookeeper) {
    Map<String, String> addresses = new TreeMap<>();
    zookeeper
        .servers(CONNECT_LIMIT)
        .forEach((session, record) -> addresses.put(session, record.address()));
    return addresses;
  }

  private Map<String, Long> counters(Engine engine) {
    Map<String, Long> all = engine.counters();
    RpcServer serving = endpoint;
    if (serving != null) {
      all.putAll(serving.counters().snapshot());
    }
    return all;
  }

  // ---- What it is

  private boolean holdsLease() {
    ServerNode held = node;
    return held != null && held.holdsLease();
  }

  private Readiness.@Nullable Lease lease() {
    ServerNode held = node;
    return held == null
        ? null
        : new Readiness.Lease() {
          @Override
          public boolean holds() {
            return held.holdsLease();
          }

          @Override
          public long endNanos() {
            return held.leaseEndNanos();
          }
        };
  }

  /** host:port that clients are told. */
  public String address() {
    ServerState known = state;
    return known == null ? "" : known.address();
  }

  public String session() {
    ServerState known = state;
    return known == null ? "" : known.session();
  }

  public String instanceId() {
    ServerState known = state;
    return known == null ? "" : known.instanceId();
  }

  /** Whether it has its place, and the tablets were served once as far as it sees to that. */
  public boolean isReady() {
    Readiness known = readiness;
    return known != null && known.isReady();
  }
}
