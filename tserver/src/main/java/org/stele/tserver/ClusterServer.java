package org.stele.tserver;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.core.time.Clock;
import org.stele.server.hadoop.FileStores;
import org.stele.server.process.ServerRun;
import org.stele.server.process.Stop;

/** A tablet server of a cluster: ZooKeeper and the file store are elsewhere. */
public final class ClusterServer {
  private ClusterServer() {}

  /**
   * Runs until the process is told to end, or something breaks.
   *
   * @param localStore where files lie if {@code root.uri} is blank; null: it must not be
   * @return the exit code
   */
  public static int run(Settings settings, @Nullable Path localStore) {
    Stop stop = new Stop();
    return new ServerRun(
            "stele server",
            stop,
            closer -> {
              var unused =
                  TabletServer.start(
                      new TabletServer.Given(
                          settings,
                          () ->
                              FileStores.open(
                                  settings.get(StandardSettings.ROOT_URI),
                                  localStore,
                                  Clock.system()),
                          Standalone.newInstanceId(),
                          Clock.system(),
                          stop,
                          closer));
            })
        .run();
  }
}
