package org.stele.core.coordination;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.stele.core.coordination.CoordinationException.Reason;
import org.stele.core.time.Clock;

/**
 * The ZooKeeper session of this process and the nodes of its instance. It reconnects by itself and
 * resolves the servers' names anew for every connection; after the end of a session it goes on with
 * a new one, in which what belonged to the old (a {@link ServerNode}) stays lost.
 *
 * <p>Thread-safe. Operations block up to the given time, else up to the session timeout, and throw
 * {@link CoordinationException}; an interrupt ends the wait. Listeners run on ZooKeeper's event
 * thread.
 */
public final class Coordination implements AutoCloseable {
  private static final int RETRY_BASE_MILLIS = 50;
  private static final int RETRIES = 3;
  private static final int CLOSE_WAIT_MILLIS = 2000;

  /** Of the requests that ZooKeeper's library waits for itself, such as the end of the session. */
  private static final int REQUEST_TIMEOUT_MILLIS = 5000;

  private final CoordinationOptions options;
  private final Clock clock;
  private final CuratorFramework curator;
  private final String base;
  private final AtomicReference<@Nullable ServerNode> serverNode = new AtomicReference<>();

  private Coordination(CoordinationOptions options, Clock clock) {
    this.options = options;
    this.clock = clock;
    this.base = options.connect().path();
    this.curator =
        CuratorFrameworkFactory.builder()
            .connectString(options.connect().servers())
            .sessionTimeoutMs(Math.toIntExact(options.sessionTimeout().toMillis()))
            .connectionTimeoutMs(Math.toIntExact(options.connectTimeout().toMillis()))
            .maxCloseWaitMs(CLOSE_WAIT_MILLIS)
            .zkClientConfig(requestTimeout())
            .retryPolicy(new ExponentialBackoffRetry(RETRY_BASE_MILLIS, RETRIES))
            .build();
    curator
        .getConnectionStateListenable()
        .addListener(
            (client, state) -> {
              ServerNode node = serverNode.get();
              if (state == ConnectionState.LOST && node != null) {
                node.lose();
              }
            });
  }

  private static ZKClientConfig requestTimeout() {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(
        ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, Integer.toString(REQUEST_TIMEOUT_MILLIS));
    return config;
  }

  /** Starts to connect; does not wait for it. */
  public static Coordination start(CoordinationOptions options, Clock clock) {
    Coordination coordination = new Coordination(options, clock);
    coordination.curator.start();
    return coordination;
  }

  /**
   * Waits for a connection.
   *
   * @throws CoordinationException NO_ANSWER, naming the servers, if there is none in time
   */
  public void awaitConnected(Duration timeout) {
    try {
      if (!curator.blockUntilConnected(millis(timeout), TimeUnit.MILLISECONDS)) {
        throw new CoordinationException(
            Reason.NO_ANSWER,
            "no connection to ZooKeeper at "
                + options.connect()
                + " within "
                + timeout.toMillis()
                + " ms",
            null);
      }
    } catch (InterruptedException e) {
      throw interrupted("the connection to " + options.connect(), e);
    }
  }

  public boolean isConnected() {
    return curator.getZookeeperClient().isConnected();
  }

  public ConnectString connectString() {
    return options.connect();
  }

  /** Adds a listener that hears of changes from now on. */
  public void addListener(SessionListener listener) {
    curator
        .getConnectionStateListenable()
        .addListener(
            (client, state) -> {
              switch (state) {
                case CONNECTED, RECONNECTED -> listener.stateChanged(SessionState.CONNECTED);
                case SUSPENDED -> listener.stateChanged(SessionState.SUSPENDED);
                case LOST -> listener.stateChanged(SessionState.EXPIRED);
                case READ_ONLY -> throw new IllegalStateException("read-only mode is not used");
              }
            });
  }

  /** The session there is now, in hex. */
  public String session() {
    return Long.toHexString(zooKeeper().getSessionId());
  }

  /** The session timeout as the servers gave it. */
  public Duration sessionTimeout() {
    return Duration.ofMillis(zooKeeper().getSessionTimeout());
  }

  private ZooKeeper zooKeeper() {
    try {
      return curator.getZookeeperClient().getZooKeeper();
    } catch (Exception e) {
      throw new CoordinationException(
          Reason.NO_ANSWER, "no session with ZooKeeper at " + options.connect(), e);
    }
  }

  // ---- Instance and root

  /** Null if there is no instance at this path yet. */
  public @Nullable InstanceRecord readInstance(Duration timeout) {
    CuratorEvent event = read(instancePath(), timeout);
    return event == null ? null : InstanceRecord.decode(instancePath(), event.getData());
  }

  /**
   * Makes the nodes of a new instance, all or none.
   *
   * @throws CoordinationException EXISTS if there is an instance
   */
  public void initialize(InstanceRecord instance, RootRecord root) {
    Duration timeout = options.sessionTimeout();
    createParents(timeout);
    transaction(
        "the nodes of a new instance below " + base,
        timeout,
        List.of(
            op(() -> curator.transactionOp().create().forPath(instancePath(), instance.encode())),
            op(() -> curator.transactionOp().create().forPath(rootPath(), root.encode())),
            op(() -> curator.transactionOp().create().forPath(serversPath(), new byte[0])),
            op(() -> curator.transactionOp().create().forPath(coordinatorPath(), new byte[0]))));
  }

  private void createParents(Duration timeout) {
    CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
    start(
        base,
        () ->
            curator
                .create()
                .creatingParentsIfNeeded()
                .inBackground(completing(answer))
                .forPath(base, new byte[0]));
    CuratorEvent event = await(answer, base, timeout);
    if (code(event) != Code.NODEEXISTS) {
      requireOk(code(event), base);
    }
  }

  /**
   * The metadata tablet's own row.
   *
   * @throws CoordinationException MISSING if there is no instance at this path
   */
  public Versioned<RootRecord> readRoot(Duration timeout) {
    CuratorEvent event = read(rootPath(), timeout);
    if (event == null) {
      throw new CoordinationException(
          Reason.MISSING, "there is no Stele instance at " + options.connect(), null);
    }
    return new Versioned<>(
        RootRecord.decode(rootPath(), event.getData()), event.getStat().getVersion());
  }

  /**
   * Replaces the root if it has the version and the writer's lock node is there, in one step.
   *
   * @param writerSession whose lock node is checked
   * @return the new version
   * @throws CoordinationException CONFLICT, LOCK_LOST, or NO_ANSWER (then it may have been done)
   */
  public int writeRoot(RootRecord root, int expectedVersion, String writerSession) {
    try {
      List<CuratorTransactionResult> results =
          transaction(
              rootPath(),
              options.sessionTimeout(),
              List.of(
                  op(() -> curator.transactionOp().check().forPath(serverPath(writerSession))),
                  op(
                      () ->
                          curator
                              .transactionOp()
                              .setData()
                              .withVersion(expectedVersion)
                              .forPath(rootPath(), root.encode()))));
      return results.get(1).getResultStat().getVersion();
    } catch (CoordinationException e) {
      if (e.reason() == Reason.MISSING) {
        throw new CoordinationException(
            Reason.LOCK_LOST, "lock node " + serverPath(writerSession) + " is gone", e);
      }
      throw e;
    }
  }

  /** Calls on each change of the root, and when changes may have been missed: read it then. */
  public Watch watchRoot(Runnable changed) {
    return watch(rootPath(), false, changed);
  }

  // ---- Servers

  /**
   * Makes the lock node of this process's session and keeps its lease.
   *
   * @throws CoordinationException EXISTS if the session has one already
   */
  public ServerNode createServerNode(ServerRecord record) {
    ZooKeeper owner = zooKeeper();
    String session = Long.toHexString(owner.getSessionId());
    String path = serverPath(session);
    long sent = clock.nanos();
    CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
    start(
        path,
        () ->
            curator
                .create()
                .creatingParentsIfNeeded()
                .withMode(CreateMode.EPHEMERAL)
                .inBackground(completing(answer))
                .forPath(path, record.encode()));
    requireOk(code(await(answer, path, options.sessionTimeout())), path);
    if (!session.equals(session())) {
      throw new CoordinationException(
          Reason.EXPIRED, "session " + session + " ended while its node was made", null);
    }
    ServerNode node =
        new ServerNode(
            this, clock, session, record, Duration.ofMillis(owner.getSessionTimeout()), sent);
    if (!serverNode.compareAndSet(null, node)) {
      throw new CoordinationException(Reason.EXISTS, "this process has a lock node already", null);
    }
    node.startRenewing();
    return node;
  }

  /** All servers that hold their place, by session. */
  public Map<String, ServerRecord> servers(Duration timeout) {
    CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
    start(
        serversPath(),
        () -> curator.getChildren().inBackground(completing(answer)).forPath(serversPath()));
    CuratorEvent event = await(answer, serversPath(), timeout);
    if (code(event) == Code.NONODE) {
      return Map.of();
    }
    requireOk(code(event), serversPath());
    Map<String, ServerRecord> servers = new TreeMap<>();
    for (String session : event.getChildren()) {
      ServerRecord record = server(session, timeout);
      if (record != null) {
        servers.put(session, record);
      }
    }
    return Collections.unmodifiableMap(servers);
  }

  /** What the lock node of a session says; null if it is gone. */
  public @Nullable ServerRecord server(String session, Duration timeout) {
    CuratorEvent event = read(serverPath(session), timeout);
    return event == null ? null : ServerRecord.decode(serverPath(session), event.getData());
  }

  /**
   * Removes the lock node of a session of which it is known that its server is dead. Idempotent.
   */
  public void removeServerNode(String session) {
    String path = serverPath(session);
    CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
    start(path, () -> curator.delete().inBackground(completing(answer)).forPath(path));
    Code code = code(await(answer, path, options.sessionTimeout()));
    if (code != Code.NONODE) {
      requireOk(code, path);
    }
  }

  /**
   * Calls when a server came or went or changed its record, and when that may have been missed:
   * read {@link #servers} then.
   */
  public Watch watchServers(Runnable changed) {
    return watch(serversPath(), true, changed);
  }

  /** Writes the lock node if it is still that of the living session; the answer comes later. */
  void touch(String session, ServerRecord record, Consumer<ServerNode.Renewal> answered) {
    if (!isSession(session)) {
      answered.accept(ServerNode.Renewal.UNKNOWN);
      return;
    }
    start(
        serverPath(session),
        () ->
            curator
                .setData()
                .inBackground(
                    (client, event) ->
                        answered.accept(
                            switch (code(event)) {
                              case OK ->
                                  isSession(session)
                                      ? ServerNode.Renewal.ACKNOWLEDGED
                                      : ServerNode.Renewal.GONE;
                              case NONODE, SESSIONEXPIRED -> ServerNode.Renewal.GONE;
                              default -> ServerNode.Renewal.UNKNOWN;
                            }))
                .forPath(serverPath(session), record.encode()));
  }

  private boolean isSession(String session) {
    try {
      return session.equals(
          Long.toHexString(curator.getZookeeperClient().getZooKeeper().getSessionId()));
    } catch (Exception e) {
      return false; // no session at all now
    }
  }

  // ---- Coordinator

  /**
   * Stands for the coordinator's role until closed.
   *
   * @param candidate a name for people: the address of the server
   */
  public Leadership stand(String candidate, Leadership.Listener listener) {
    return new Leadership(curator, coordinatorPath(), candidate, listener);
  }

  // ---- Insides

  private Watch watch(String path, boolean below, Runnable changed) {
    PersistentWatcher watcher = new PersistentWatcher(curator, path, below);
    watcher.getListenable().addListener(event -> changed.run());
    watcher.getResetListenable().addListener(changed);
    watcher.start();
    return watcher::close;
  }

  /** Null if the node is not there. */
  private @Nullable CuratorEvent read(String path, Duration timeout) {
    CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
    start(path, () -> curator.getData().inBackground(completing(answer)).forPath(path));
    CuratorEvent event = await(answer, path, timeout);
    if (code(event) == Code.NONODE) {
      return null;
    }
    requireOk(code(event), path);
    return event;
  }

  private List<CuratorTransactionResult> transaction(
      String what, Duration timeout, List<CuratorOp> operations) {
    CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
    start(
        what,
        () -> curator.transaction().inBackground(completing(answer)).forOperations(operations));
    CuratorEvent event = await(answer, what, timeout);
    requireOk(code(event), what);
    return event.getOpResults();
  }

  private static BackgroundCallback completing(CompletableFuture<CuratorEvent> answer) {
    return (client, event) -> answer.complete(event);
  }

  private void start(String path, Action action) {
    try {
      action.run();
    } catch (CoordinationException e) {
      throw e;
    } catch (Exception e) {
      throw new CoordinationException(Reason.REFUSED, "ZooKeeper refuses " + path, e);
    }
  }

  private static CuratorOp op(Operation operation) {
    try {
      return operation.make();
    } catch (CoordinationException e) {
      throw e;
    } catch (Exception e) {
      throw new CoordinationException(Reason.REFUSED, "malformed operation", e);
    }
  }

  private CuratorEvent await(
      CompletableFuture<CuratorEvent> answer, String path, Duration timeout) {
    try {
      return answer.get(millis(timeout), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new CoordinationException(
          Reason.NO_ANSWER,
          "ZooKeeper at "
              + options.connect()
              + " did not answer for "
              + path
              + " within "
              + timeout,
          e);
    } catch (InterruptedException e) {
      throw interrupted(path, e);
    } catch (ExecutionException e) {
      throw new CoordinationException(Reason.REFUSED, "ZooKeeper failed " + path, e.getCause());
    }
  }

  private static CoordinationException interrupted(String what, InterruptedException e) {
    Thread.currentThread().interrupt();
    return new CoordinationException(Reason.INTERRUPTED, "interrupted waiting for " + what, e);
  }

  private static Code code(CuratorEvent event) {
    Code code = Code.get(event.getResultCode());
    return code == null ? Code.SYSTEMERROR : code;
  }

  private void requireOk(Code code, String path) {
    Reason reason =
        switch (code) {
          case OK -> null;
          case CONNECTIONLOSS, OPERATIONTIMEOUT -> Reason.NO_ANSWER;
          case BADVERSION -> Reason.CONFLICT;
          case NONODE -> Reason.MISSING;
          case NODEEXISTS -> Reason.EXISTS;
          case SESSIONEXPIRED -> Reason.EXPIRED;
          default -> Reason.REFUSED;
        };
    if (reason != null) {
      throw new CoordinationException(
          reason,
          "ZooKeeper at " + options.connect().servers() + " answers " + code + " for " + path,
          KeeperException.create(code, path));
    }
  }

  private static int millis(Duration timeout) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, timeout.toMillis()));
  }

  private String instancePath() {
    return base + "/instance";
  }

  private String rootPath() {
    return base + "/root";
  }

  private String serversPath() {
    return base + "/servers";
  }

  private String serverPath(String session) {
    return serversPath() + "/" + session;
  }

  private String coordinatorPath() {
    return base + "/coordinator";
  }

  /**
   * Ends the session: its ephemeral nodes go at once. A ZooKeeper that does not answer is not
   * waited for longer than {@value #CLOSE_WAIT_MILLIS} ms; then the nodes go with the session
   * timeout. Idempotent.
   */
  @Override
  public void close() {
    try {
      beginClosing().join(CLOSE_WAIT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends a session as {@link #close} does, and waits for nothing: its nodes need not be gone. */
  public void abandon() {
    beginClosing();
  }

  @CanIgnoreReturnValue
  private Thread beginClosing() {
    ServerNode node = serverNode.get();
    if (node != null) {
      node.endRenewing();
    }
    Thread closing = new Thread(curator::close, "zookeeper-close");
    closing.setDaemon(true);
    closing.start();
    return closing;
  }

  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }

  @FunctionalInterface
  private interface Operation {
    CuratorOp make() throws Exception;
  }
}
