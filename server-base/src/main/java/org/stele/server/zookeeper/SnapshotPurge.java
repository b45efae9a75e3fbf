package org.stele.server.zookeeper;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.Util;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what the embedded ZooKeeper does not need any more, as ZooKeeper's own purge does, which
 * however writes to standard output: snapshots but the newest valid ones, and logs from before the
 * oldest of those. Owns the thread {@code zookeeper-purge}.
 */
final class SnapshotPurge implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotPurge.class);

  private static final String SNAPSHOT = "snapshot";
  private static final String LOG_FILE = "log";

  private final File directory;
  private final int keep;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread thread = new Thread(work, "zookeeper-purge");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param keep snapshots that stay, at least 1
   */
  SnapshotPurge(File directory, int keep) {
    this.directory = directory;
    this.keep = keep;
  }

  /** Purges now and then again and again. */
  @SuppressWarnings("FutureReturnValueIgnored") // it ends with the timer
  void start(long hours) {
    timer.scheduleWithFixedDelay(this::tryToRun, 0, hours, TimeUnit.HOURS);
  }

  private void tryToRun() {
    try {
      run();
    } catch (IOException | RuntimeException e) {
      LOG.warn("old files of ZooKeeper in {} stay until the next purge", directory, e);
    }
  }

  /** Purges once. */
  void run() throws IOException {
    FileTxnSnapLog files = new FileTxnSnapLog(directory, directory);
    try {
      List<File> newest = files.findNValidSnapshots(keep);
      if (newest.isEmpty()) {
        return;
      }
      String oldestKept = newest.get(newest.size() - 1).getName();
      long first = Util.getZxidFromName(oldestKept, SNAPSHOT);
      // The log that holds the first transactions behind a snapshot began before it.
      Set<File> needed = Set.of(files.getSnapshotLogs(first));
      deleteOlder(files.getSnapDir(), SNAPSHOT, first, Set.of());
      deleteOlder(files.getDataLogDir(), LOG_FILE, first, needed);
    } finally {
      files.close();
    }
  }

  private static void deleteOlder(File folder, String kind, long first, Set<File> needed)
      throws IOException {
    File[] all = folder.listFiles();
    for (File file : all == null ? new File[0] : all) {
      String name = file.getName();
      if (name.startsWith(kind + ".")
          && Util.getZxidFromName(name, kind) < first
          && !needed.contains(file)) {
        Files.deleteIfExists(file.toPath());
        LOG.debug("deleted {}", file);
      }
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
