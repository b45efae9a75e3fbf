package org.stele.tserver.recovery;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.FileStore;
import org.stele.tserver.wal.LogDirectory;

/**
 * What the logs of dead sessions hold: each directory is read once for all the tablets that need
 * it, and kept while tablets are being opened. Reading leaves an index beside each log, so that a
 * recovery that is cut off, or another server, need not read the whole log again. Thread-safe; who
 * comes while a directory is read waits for it.
 */
final class RecoveredLogs {
  private static final Logger LOG = LoggerFactory.getLogger(RecoveredLogs.class);

  private final FileStore store;
  private final LogDirectories fence;

  @GuardedBy("this")
  private final Map<String, CompletableFuture<LogDirectory>> directories = new HashMap<>();

  RecoveredLogs(FileStore store, LogDirectories fence) {
    this.store = store;
    this.fence = fence;
  }

  /**
   * The logs of a fenced session.
   *
   * @throws org.stele.core.file.CorruptFileException if they are nowhere
   */
  LogDirectory of(String session, boolean meta) throws IOException {
    String directory =
        meta ? LogDirectories.fencedMeta(session) : LogDirectories.fencedData(session);
    CompletableFuture<LogDirectory> mine = new CompletableFuture<>();
    CompletableFuture<LogDirectory> reading;
    synchronized (this) {
      reading = directories.putIfAbsent(directory, mine);
    }
    if (reading == null) {
      read(session, directory, mine);
      reading = mine;
    }
    return await(directory, reading);
  }

  private void read(String session, String directory, CompletableFuture<LogDirectory> result) {
    try {
      fence.requireFenced(session);
      LogDirectory logs = LogDirectory.read(store, directory);
      logs.writeIndexes();
      LOG.info(
          "{}: {} logs with records of {} tablets",
          directory,
          logs.logs().size(),
          logs.tablets().size());
      result.complete(logs);
    } catch (IOException | RuntimeException e) {
      synchronized (this) {
        directories.remove(directory);
      }
      result.completeExceptionally(e);
    }
  }

  private static LogDirectory await(String directory, CompletableFuture<LogDirectory> reading)
      throws IOException {
    try {
      return reading.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + directory + " was read", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw new IOException(directory + " cannot be read", e.getCause());
    }
  }

  /** Drops what was read: all tablets are open, or an operator may have changed something. */
  synchronized void forget() {
    directories.values().removeIf(CompletableFuture::isDone);
  }
}
