package org.stele.tserver.recovery;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.FileInput;
import org.stele.core.file.FileStore;
import org.stele.core.time.Clock;
import org.stele.tserver.wal.LogDirectory;
import org.stele.tserver.wal.LogDirectory.Damage;

/**
 * What the logs of dead sessions hold: each directory is read once for all the tablets that need
 * it, and kept while tablets are being opened. Reading leaves an index beside each log, so that a
 * recovery that is cut off, or another server, need not read the whole log again. Damaged logs have
 * no index: what was found of them is kept longer, until an operator has changed something there,
 * so that the tablets that wait for him do not have them read in full again and again.
 *
 * <p>Thread-safe; who comes while a directory is read waits for it.
 */
final class RecoveredLogs {
  private static final Logger LOG = LoggerFactory.getLogger(RecoveredLogs.class);

  /** A change that is as good as invisible is found in this time. */
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(5);

  private static final int CHUNK_BYTES = 64 << 10;

  private final FileStore store;
  private final LogDirectories fence;
  private final Clock clock;

  @GuardedBy("this")
  private final Map<String, CompletableFuture<LogDirectory>> directories = new HashMap<>();

  /** The damaged ones of those read before. */
  @GuardedBy("this")
  private final Map<String, Damaged> damaged = new HashMap<>();

  /**
   * A directory with damage that nobody has accepted.
   *
   * @param seen its entries and the damaged bytes, when it was read
   */
  private record Damaged(LogDirectory logs, List<Object> seen, long readNanos) {}

  RecoveredLogs(FileStore store, LogDirectories fence, Clock clock) {
    this.store = store;
    this.fence = fence;
    this.clock = clock;
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
      LogDirectory known = unchanged(directory);
      result.complete(known != null ? known : read(directory));
    } catch (IOException | RuntimeException e) {
      synchronized (this) {
        directories.remove(directory);
      }
      result.completeExceptionally(e);
    }
  }

  private LogDirectory read(String directory) throws IOException {
    LogDirectory logs = LogDirectory.read(store, directory);
    logs.writeIndexes();
    LOG.info(
        "{}: {} logs with records of {} tablets",
        directory,
        logs.logs().size(),
        logs.tablets().size());
    if (waitsForAnOperator(logs)) {
      Damaged found = new Damaged(logs, look(directory, logs), clock.nanos());
      synchronized (this) {
        damaged.put(directory, found);
      }
    }
    return logs;
  }

  private static boolean waitsForAnOperator(LogDirectory logs) {
    return logs.damage().stream().anyMatch(damage -> !damage.accepted());
  }

  /** What was found in a damaged directory before; null if it is to be read. */
  private @Nullable LogDirectory unchanged(String directory) throws IOException {
    Damaged before;
    synchronized (this) {
      before = damaged.remove(directory);
    }
    if (before == null
        || clock.nanos() - before.readNanos > KEPT_NANOS
        || !before.seen.equals(look(directory, before.logs))) {
      return null;
    }
    synchronized (this) {
      damaged.put(directory, before);
    }
    return before.logs;
  }

  /** All that a judgement of damage hangs on: a log may be replaced by a good one of its length. */
  private List<Object> look(String directory, LogDirectory logs) throws IOException {
    List<Object> seen = new ArrayList<>(store.list(directory));
    for (Damage damage : logs.damage()) {
      seen.add(checksum(damage));
    }
    return seen;
  }

  private long checksum(Damage damage) throws IOException {
    CRC32C crc = new CRC32C();
    try (FileInput in = store.open(damage.path())) {
      byte[] chunk = new byte[CHUNK_BYTES];
      long end = Math.min(damage.end(), in.length());
      for (long at = damage.offset(); at < end; at += chunk.length) {
        int length = (int) Math.min(chunk.length, end - at);
        in.readFully(at, chunk, 0, length);
        crc.update(chunk, 0, length);
      }
    } catch (NoSuchFileException e) {
      return -1; // then that is the damage
    }
    return crc.getValue();
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
    damaged.values().removeIf(one -> clock.nanos() - one.readNanos > KEPT_NANOS);
  }
}
