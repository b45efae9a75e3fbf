package org.stele.tserver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.client.instance.ServerStatusFile;
import org.stele.core.coordination.ConnectString;
import org.stele.core.file.FileStore;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.core.time.Clock;
import org.stele.server.hadoop.FileStores;
import org.stele.server.process.Closer;
import org.stele.server.process.InstanceDirectory;
import org.stele.server.process.ServerRun;
import org.stele.server.process.Stop;
import org.stele.server.zookeeper.EmbeddedZooKeeper;

/**
 * A tablet server and the ZooKeeper it needs in one process, with everything in one directory. What
 * differs from a server of a cluster is here: the embedded ZooKeeper, and that whoever holds the
 * directory's lock knows that former servers of it are gone and ends their sessions at once.
 */
public final class Standalone {
  private static final Logger LOG = LoggerFactory.getLogger(Standalone.class);
  private static final String PATH = "/stele";
  private static final long READY_LOOK_MILLIS = 5;

  /** A server that is not ready after this time can be asked why. */
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final InstanceDirectory directory;
  private final Settings settings;
  private final TabletServer.StoreOpening store;
  private final Clock clock;
  private final Stop stop;

  private volatile @Nullable TabletServer server;
  private volatile String connect = "";

  /**
   * @param store opens the file store
   */
  public Standalone(
      InstanceDirectory directory,
      Settings settings,
      TabletServer.StoreOpening store,
      Clock clock,
      Stop stop) {
    this.directory = directory;
    this.settings = settings;
    this.store = store;
    this.clock = clock;
    this.stop = stop;
  }

  /**
   * Runs until the process is told to end, or something breaks.
   *
   * @return the exit code
   */
  public static int run(InstanceDirectory directory, Settings settings) {
    Stop stop = new Stop();
    Standalone standalone =
        new Standalone(
            directory,
            settings,
            () -> openStore(directory, settings, Clock.system()),
            Clock.system(),
            stop);
    return new ServerRun("stele standalone", stop, standalone::startAndTell).run();
  }

  /** The store that the settings name, or that in the directory. */
  static FileStore openStore(InstanceDirectory directory, Settings settings, Clock clock)
      throws IOException {
    return FileStores.open(settings.get(StandardSettings.ROOT_URI), directory.store(), clock);
  }

  /** An id for a new instance: random. */
  public static String newInstanceId() {
    byte[] id = new byte[8];
    new SecureRandom().nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  /**
   * Starts and waits until it is ready. {@code status.json} is written then, or when that takes
   * long, so that the server can be asked why.
   *
   * @param closer gets every part as it is made
   */
  public void startAndTell(Closer closer) throws IOException, InterruptedException {
    start(closer);
    TabletServer started = server;
    if (started == null) {
      return;
    }
    long tellNanos = clock.nanos() + TELL_NANOS;
    boolean told = false;
    while (!started.isReady()) {
      if (stop.await(READY_LOOK_MILLIS, TimeUnit.MILLISECONDS) != null) {
        return;
      }
      if (!told && clock.nanos() - tellNanos > 0) {
        status(started).write(directory.root());
        told = true;
      }
    }
    if (!told) {
      status(started).write(directory.root());
    }
    LOG.info("ready at {}, ZooKeeper at {}", started.address(), connect);
  }

  /** Starts; tablets are opened afterwards. */
  public void start(Closer closer) throws IOException, InterruptedException {
    closer.add("instance directory", directory);
    String bind = settings.get(StandardSettings.ZOOKEEPER_BIND_ADDRESS);
    EmbeddedZooKeeper zookeeper =
        closer.add(
            "ZooKeeper",
            EmbeddedZooKeeper.start(
                directory.zookeeper(),
                bind,
                settings.get(StandardSettings.ZOOKEEPER_PORT),
                clock,
                () ->
                    stop.fatal("the embedded ZooKeeper has failed, as its log above tells", null)));
    zookeeper.endSessionsWithNodesBelow(PATH + "/servers");
    connect = ConnectString.parse(host(bind) + ":" + zookeeper.port() + PATH).toString();
    server =
        TabletServer.start(
            new TabletServer.Given(
                settings.with(Map.of(StandardSettings.ZOOKEEPER_CONNECT.name(), connect)),
                store,
                directory.instanceId(),
                clock,
                stop,
                closer));
  }

  /** Where this process reaches its own ZooKeeper. */
  private static String host(String bind) {
    boolean anyAddress = bind.equals("0.0.0.0") || bind.equals("::");
    return anyAddress ? "127.0.0.1" : bind;
  }

  private ServerStatusFile status(TabletServer started) {
    return new ServerStatusFile(
        ProcessHandle.current().pid(),
        startTicks(),
        started.address(),
        connect,
        null,
        Release.version(),
        started.session(),
        started.instanceId());
  }

  /** Field 22 of /proc/self/stat; 0 where there is none. */
  private static long startTicks() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      return Long.parseLong(fields[19]);
    } catch (IOException | RuntimeException e) {
      return 0;
    }
  }

  /** The started server; null before. */
  public @Nullable TabletServer server() {
    return server;
  }

  /** The connect string of clients; empty before the start. */
  public String connectString() {
    return connect;
  }
}
