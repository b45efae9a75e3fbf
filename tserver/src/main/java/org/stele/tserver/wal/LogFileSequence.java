package org.stele.tserver.wal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.FileOutput;
import org.stele.core.file.FileStore;
import org.stele.tserver.wal.LogHeader.Predecessor;

/**
 * The files that a log is written to, one after the other: begins, ends, abandons and deletes them.
 * Its methods belong to {@code wal-sync}; a helper thread makes the next file ahead, writes the
 * index of the last one, closes and deletes, so that writers wait for none of that.
 *
 * <p>Always holds: nothing is acknowledged in a file before its header is synced, and the header
 * says how much was acknowledged in each older file that is still needed. A file in which a write
 * or sync has failed is never written or synced again. Two failures without an acknowledged group
 * between them, or a missing directory (another server has fenced this one), are the end.
 */
final class LogFileSequence {
  private static final Logger LOG = LoggerFactory.getLogger(LogFileSequence.class);
  private static final int FAILURES_THAT_BREAK = 2;

  private final FileStore store;
  private final GroupCommitLog.Options options;
  private final LogMetrics metrics;
  private final LongSupplier salts;
  private final Executor helper;
  private final LiveLogs live = new LiveLogs();

  // Only wal-sync.
  private @Nullable LogFileWriter current;
  private @Nullable Spare spare;
  private long nextNumber = 1;
  private int failuresInRow;

  /** A file that was made ahead. */
  private record Spare(long number, CompletableFuture<FileOutput> output) {}

  LogFileSequence(
      FileStore store,
      GroupCommitLog.Options options,
      LogMetrics metrics,
      LongSupplier salts,
      Executor helper) {
    this.store = store;
    this.options = options;
    this.metrics = metrics;
    this.salts = salts;
    this.helper = helper;
  }

  /** Begins the first file. */
  void open() throws IOException {
    for (FileStore.Entry entry : store.list(options.directory())) {
      if (LogName.number(entry.name()).isPresent()) {
        throw new IOException(
            options.directory()
                + " already holds the log "
                + entry.name()
                + ": a session writes its logs once");
      }
    }
    openNext(true);
  }

  LogFileWriter current() {
    return requireNonNull(current, "no file is open");
  }

  LiveLogs live() {
    return live;
  }

  /** A group was acknowledged: files work. */
  void succeeded() {
    failuresInRow = 0;
  }

  boolean currentIsFull() {
    return current().bytesOfGroups() >= options.fileBytes() && !current().isEmpty();
  }

  /** Has the next file made when the current one is half full. */
  void prepareNext() {
    if (spare == null && current().bytesOfGroups() >= options.fileBytes() / 2) {
      long number = nextNumber++;
      spare = new Spare(number, CompletableFuture.supplyAsync(() -> createAhead(number), helper));
    }
  }

  private FileOutput createAhead(long number) {
    try {
      return create(number);
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  private FileOutput create(long number) throws IOException {
    FileOutput output =
        store.createLog(LogName.path(options.directory(), number), options.fileBytes());
    metrics.createdFiles.increment();
    return output;
  }

  /**
   * Ends the current file and begins the next.
   *
   * @throws IOException if there can be none: the log is broken
   */
  void roll() throws IOException {
    LogFileWriter old = current();
    try {
      old.syncAll();
    } catch (IOException | RuntimeException e) {
      abandon(e);
      return;
    }
    live.ended();
    openNext(false);
    long lowest = live.lowestNeeded();
    helper.execute(() -> finish(old, lowest));
  }

  /** Writes the index; the file is as good without one, recovery then makes it. */
  private static void finish(LogFileWriter old, long lowestLive) {
    try {
      old.finish(lowestLive);
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} stays without an index, which recovery will make", old.path(), e);
      closeQuietly(old);
    }
  }

  /**
   * Gives up the current file, in which a write or sync has failed, and begins the next.
   *
   * @throws IOException if there can be none: the log is broken
   */
  void abandon(Throwable cause) throws IOException {
    LogFileWriter old = current();
    LOG.error(
        "{}: writing has failed, nothing behind offset {} counts; going on in a new file",
        old.path(),
        old.acknowledged(),
        cause);
    metrics.failedFiles.increment();
    failuresInRow++;
    live.ended();
    helper.execute(() -> closeQuietly(old));
    openNext(false);
  }

  private void openNext(boolean first) throws IOException {
    List<LogFileWriter> useless = new ArrayList<>();
    while (true) {
      LogFileWriter next = null;
      try {
        next = newWriter();
        next.begin();
        current = next;
        live.opened(next, next.lowestLive());
        break;
      } catch (IOException | RuntimeException e) {
        failuresInRow++;
        if (next != null) {
          useless.add(next);
          metrics.failedFiles.increment();
        }
        if (first || failuresInRow >= FAILURES_THAT_BREAK || e instanceof NoSuchFileException) {
          useless.forEach(LogFileSequence::closeQuietly);
          throw new IOException("no log can be begun in " + options.directory(), e);
        }
        LOG.error("{}: a log could not be begun, trying once more", options.directory(), e);
      }
    }
    useless.forEach(writer -> helper.execute(() -> removeUseless(writer)));
  }

  /** The header of a file is made when it is begun, also if the file was made ahead. */
  private LogFileWriter newWriter() throws IOException {
    Spare ahead = spare;
    spare = null;
    long number = ahead == null ? nextNumber++ : ahead.number();
    FileOutput output = ahead == null ? create(number) : await(ahead);
    List<Predecessor> predecessors = live.predecessors();
    LogHeader header =
        new LogHeader(
            0,
            salts.getAsLong(),
            number,
            live.lowestNeeded(),
            options.instanceId(),
            options.session(),
            predecessors,
            live.tabletsOfNewest());
    return new LogFileWriter(LogName.path(options.directory(), number), output, header, metrics);
  }

  private static FileOutput await(Spare ahead) throws IOException {
    try {
      return ahead.output().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /** Deletes what is declared as not needed; what cannot be deleted is tried again next time. */
  void deleteUnneeded() {
    if (!live.deletable().isEmpty()) {
      helper.execute(this::deleteNow);
    }
  }

  private void deleteNow() {
    for (LogFileWriter writer : live.deletable()) {
      try {
        store.delete(writer.path());
      } catch (IOException e) {
        LOG.warn("{} is not needed any more but cannot be deleted yet", writer.path(), e);
        return;
      }
      live.deleted(writer);
      metrics.deletedFiles.increment();
    }
  }

  /** A file whose header could not be written: its successor declares that it holds nothing. */
  private void removeUseless(LogFileWriter writer) {
    closeQuietly(writer);
    try {
      store.delete(writer.path());
    } catch (IOException e) {
      LOG.warn("{} holds nothing but cannot be deleted", writer.path(), e);
    }
  }

  /** Completes the current file, at the end of the log; a file made ahead goes. */
  void finish() throws IOException {
    dropSpare();
    current().finish(live.lowestNeeded());
  }

  /** Lets go of the files without writing anything. */
  void release() {
    dropSpare();
    if (current != null) {
      closeQuietly(current);
    }
  }

  private void dropSpare() {
    Spare ahead = spare;
    spare = null;
    if (ahead == null) {
      return;
    }
    try {
      await(ahead).close();
      store.delete(LogName.path(options.directory(), ahead.number()));
    } catch (IOException | RuntimeException e) {
      LOG.debug("log {} was made ahead and stays, empty", ahead.number(), e);
    }
  }

  private static void closeQuietly(LogFileWriter writer) {
    try {
      writer.close();
    } catch (IOException | RuntimeException e) {
      LOG.debug("{}: closing a file that is given up has failed", writer.path(), e);
    }
  }
}
