package org.stele.tserver;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.core.file.FileStore;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;
import org.stele.server.process.Closer;
import org.stele.server.process.InstanceDirectory;
import org.stele.server.process.Stop;

/**
 * A standalone server in this process: everything is real but the process. It is ended in order, or
 * left as a crash leaves it: what is in its logs is there, nothing else is done.
 */
final class MiniServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MiniServer.class);
  private static final Duration READY_LIMIT = Duration.ofSeconds(30);

  private final Stop stop = new Stop();
  private final Closer closer = new Closer();
  private final Standalone standalone;

  private MiniServer(Path path, Settings settings, @Nullable FileStore store) throws IOException {
    InstanceDirectory directory = InstanceDirectory.open(path, Standalone::newInstanceId);
    standalone =
        new Standalone(
            directory,
            settings,
            () -> store != null ? store : Standalone.openStore(directory, settings, Clock.system()),
            Clock.system(),
            stop);
  }

  static MiniServer start(Path directory) throws Exception {
    return start(directory, Map.of());
  }

  /** Starts and waits until it is ready. */
  static MiniServer start(Path directory, Map<String, String> settings) throws Exception {
    return start(directory, settings, null);
  }

  /**
   * Starts and waits until it is ready.
   *
   * @param store null: that in the directory
   */
  static MiniServer start(Path directory, Map<String, String> settings, @Nullable FileStore store)
      throws Exception {
    MiniServer server = new MiniServer(directory, settings(settings), store);
    try {
      server.standalone.startAndTell(server.closer);
      return server;
    } catch (Exception e) {
      server.stop.fatal("the start failed", e);
      server.closer.close();
      throw e;
    }
  }

  private static Settings settings(Map<String, String> others) {
    Map<String, String> all = new HashMap<>();
    all.put("rpc.port", "0");
    all.put("zookeeper.port", "0");
    all.put("memtable.bytes", "64M");
    all.put("cache.data.bytes", "16M");
    all.put("zookeeper.session.timeout", "20s");
    all.putAll(others);
    return Settings.of(all);
  }

  /** Starts, and crashes while tablets are being opened. */
  static void startAndCrash(Path directory, @Nullable FileStore store) throws Exception {
    MiniServer server = new MiniServer(directory, settings(Map.of()), store);
    server.standalone.start(server.closer);
    server.crash();
  }

  SteleClient client() {
    return SteleClient.connect(
        standalone.connectString(), ClientOptions.defaults().withDeadline(READY_LIMIT));
  }

  String connectString() {
    return standalone.connectString();
  }

  TabletServer server() {
    return standalone.server();
  }

  Stop stop() {
    return stop;
  }

  /** Waits until something broke so that the server has to end. */
  Stop.Reason awaitStop() {
    return Awaitility.await().atMost(READY_LIMIT).until(stop::reason, reason -> reason != null);
  }

  /** Ends it without flushing anything, as if it had crashed. */
  void crash() {
    stop.fatal("crash", null);
    try {
      closer.close();
    } catch (IOException e) {
      LOG.debug("what a crash does not care for", e);
    }
  }

  /** Ends it in order. */
  @Override
  public void close() throws IOException {
    stop.request("end of the test");
    closer.close();
  }
}
