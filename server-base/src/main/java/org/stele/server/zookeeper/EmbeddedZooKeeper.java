package org.stele.server.zookeeper;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.time.Clock;

/**
 * A ZooKeeper server of one, in this process, with its data in one directory. Kept small: logs and
 * snapshots are short and purged, no HTTP, no four-letter commands. Every write is synced.
 *
 * <p>Thread-safe after {@link #start}. ZooKeeper has threads of its own; {@link #close()} ends them
 * within {@link #STOP_LIMIT}.
 */
public final class EmbeddedZooKeeper implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedZooKeeper.class);

  /** Sessions are looked at once per tick, so that a session ends at most a tick late. */
  private static final int TICK_MILLIS = 500;

  private static final int SNAPSHOT_EVERY = 5_000;
  private static final int PREALLOCATE_KIB = 256;
  private static final int KEEP_SNAPSHOTS = 3;
  private static final int PURGE_HOURS = 1;
  private static final int MAX_CONNECTIONS_PER_CLIENT = 1_000;
  private static final int BACKLOG = 50;
  private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

  private final ZooKeeperServer server;
  private final ServerCnxnFactory connections;
  private final SnapshotPurge purge;
  private final Clock clock;

  private EmbeddedZooKeeper(
      ZooKeeperServer server, ServerCnxnFactory connections, SnapshotPurge purge, Clock clock) {
    this.server = server;
    this.connections = connections;
    this.purge = purge;
    this.clock = clock;
  }

  /**
   * Starts a server and returns when it serves.
   *
   * @param directory only this server's; it is there
   * @param port 0: a free one, see {@link #port()}
   * @param onFailure hears, on a thread of ZooKeeper's, that it cannot go on, as when its disk is
   *     full
   * @throws BindException naming address and port if they are taken
   */
  public static EmbeddedZooKeeper start(
      Path directory, String address, int port, Clock clock, Runnable onFailure)
      throws IOException, InterruptedException {
    configureProcess();
    ServerCnxnFactory connections = bind(address, port);
    try {
      ZooKeeperServer server = new FailingLoudly(directory.toFile(), onFailure);
      server.setMinSessionTimeout(2 * TICK_MILLIS);
      server.setMaxSessionTimeout((int) Duration.ofMinutes(10).toMillis());
      connections.startup(server);
      SnapshotPurge purge = new SnapshotPurge(directory.toFile(), KEEP_SNAPSHOTS);
      purge.start(PURGE_HOURS);
      LOG.info("ZooKeeper serves at {}:{}", address, connections.getLocalPort());
      return new EmbeddedZooKeeper(server, connections, purge, clock);
    } catch (IOException | InterruptedException | RuntimeException e) {
      connections.shutdown();
      throw e;
    }
  }

  /** ZooKeeper reads these from the process, not from the server. */
  private static void configureProcess() {
    System.setProperty("zookeeper.admin.enableServer", "false");
    System.setProperty("zookeeper.4lw.commands.whitelist", "");
    System.setProperty("zookeeper.forceSync", "yes");
    FileTxnLog.setPreallocSize(PREALLOCATE_KIB * 1024L);
    // No threads are made after the start: one that cannot be made ends ZooKeeper's selector.
    System.setProperty("zookeeper.nio.numSelectorThreads", "1");
    System.setProperty("zookeeper.nio.numWorkerThreads", "0");
    System.setProperty("zookeeper.snapCount", Integer.toString(SNAPSHOT_EVERY));
  }

  private static ServerCnxnFactory bind(String address, int port) throws IOException {
    // The first use of ZooKeeper's class makes its own handler, which only logs, that of all
    // threads.
    Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
    NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
    Thread.setDefaultUncaughtExceptionHandler(handler);
    try {
      connections.configure(
          new InetSocketAddress(InetAddress.getByName(address), port),
          MAX_CONNECTIONS_PER_CLIENT,
          BACKLOG,
          false);
      return connections;
    } catch (IOException | RuntimeException e) {
      connections.shutdown();
      if (e instanceof BindException) {
        BindException named =
            new BindException(
                "ZooKeeper's address " + address + ":" + port + ": " + e.getMessage());
        named.initCause(e);
        throw named;
      }
      throw e;
    }
  }

  /** The port it listens on. */
  public int port() {
    return connections.getLocalPort();
  }

  /**
   * Ends every session that owns an ephemeral node below {@code path}: for a server that knows, by
   * its directory's lock, that the processes of those sessions are gone. Without it their nodes
   * would stay for a session timeout. Returns when the nodes are gone.
   */
  public void endSessionsWithNodesBelow(String path) throws InterruptedException, IOException {
    long deadline = clock.nanos() + STOP_LIMIT.toNanos();
    for (long session : Set.copyOf(server.getZKDatabase().getSessions())) {
      if (hasNodeBelow(session, path)) {
        LOG.info(
            "ending ZooKeeper session {} of a process that is gone", Long.toHexString(session));
        server.closeSession(session);
        while (hasNodeBelow(session, path)) {
          if (clock.nanos() - deadline > 0) {
            throw new IOException(
                "ZooKeeper did not end session "
                    + Long.toHexString(session)
                    + " within "
                    + STOP_LIMIT.toSeconds()
                    + " s");
          }
          TimeUnit.MILLISECONDS.sleep(1);
        }
      }
    }
  }

  private boolean hasNodeBelow(long session, String path) {
    return server.getZKDatabase().getDataTree().getEphemerals(session).stream()
        .anyMatch(node -> node.startsWith(path + "/"));
  }

  @Override
  public void close() throws IOException {
    purge.close();
    Thread stopper = new Thread(this::stop, "zookeeper-stop");
    stopper.setDaemon(true);
    stopper.start();
    try {
      stopper.join(STOP_LIMIT.toMillis());
      if (stopper.isAlive()) {
        throw new IOException("ZooKeeper did not stop within " + STOP_LIMIT.toSeconds() + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void stop() {
    connections.shutdown();
    try {
      server.getZKDatabase().close();
    } catch (IOException e) {
      LOG.warn("closing ZooKeeper's data", e);
    }
  }

  /** Tells when one of its vital threads has failed; then ZooKeeper answers nothing any more. */
  private static final class FailingLoudly extends ZooKeeperServer {
    private final Runnable onFailure;

    FailingLoudly(File directory, Runnable onFailure) throws IOException {
      super(directory, directory, TICK_MILLIS);
      this.onFailure = onFailure;
    }

    @Override
    protected void setState(State state) {
      super.setState(state);
      if (state == State.ERROR) {
        onFailure.run();
      }
    }
  }
}
