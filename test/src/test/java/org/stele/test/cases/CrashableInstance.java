package org.stele.test.cases;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;
import org.stele.server.process.Closer;
import org.stele.server.process.InstanceDirectory;
import org.stele.server.process.Stop;
import org.stele.tserver.Standalone;

/**
 * A standalone server in this JVM over a file store whose calls can be made to fail, to hang, and
 * to lose what was not synced. ZooKeeper's data lies in a directory. All of it is real but the disk
 * and the process.
 */
final class CrashableInstance implements AutoCloseable {
  private final Path directory;
  private final CrashableFileStore store;
  private final Map<String, String> settings;

  private Stop stop = new Stop();
  private Closer closer = new Closer();
  private Standalone standalone;

  CrashableInstance(Path directory, CrashableFileStore store, Map<String, String> settings) {
    this.directory = directory;
    this.store = store;
    this.settings = new HashMap<>(settings);
    this.settings.putIfAbsent("rpc.port", "0");
    this.settings.putIfAbsent("zookeeper.port", "0");
    this.settings.putIfAbsent("cache.data.bytes", "16M");
  }

  /** Starts and waits until it is ready. */
  CrashableInstance start() throws Exception {
    stop = new Stop();
    closer = new Closer();
    standalone =
        new Standalone(
            InstanceDirectory.open(directory, Standalone::newInstanceId),
            Settings.of(settings),
            () -> store,
            Clock.system(),
            stop);
    try {
      standalone.startAndTell(closer);
    } catch (Exception e) {
      sever();
      throw e;
    }
    return this;
  }

  CrashableFileStore store() {
    return store;
  }

  SteleClient client(Duration deadline) {
    return SteleClient.connect(
        standalone.connectString(), ClientOptions.defaults().withDeadline(deadline));
  }

  SteleClient client() {
    return client(Duration.ofSeconds(60));
  }

  /** Whether something broke so that the process would end. */
  boolean hasBroken() {
    Stop.Reason reason = stop.reason();
    return reason != null && reason.fatal();
  }

  /** The machine stops: of what was not synced, the seed says what is left. */
  void cutPower(long seed) {
    sever();
    store.crash(seed);
  }

  /** The process ends as by {@code kill -9}, and the machine does not. */
  void kill() {
    sever();
    store.kill();
  }

  /** From here on it reaches no file; then its threads and sockets go. */
  private void sever() {
    for (Operation operation : Operation.values()) {
      store.failAll(operation, new IOException("this machine is off"));
    }
    stop.fatal("this machine is off", null);
    try {
      closer.close();
    } catch (IOException e) {
      // What it cannot write any more is what a crash loses.
      stop.request(e.toString());
    }
  }

  /** Ends it in order. */
  void stop() throws IOException {
    stop.request("end of the test");
    closer.close();
  }

  @Override
  public void close() {
    sever();
    store.kill();
  }
}
