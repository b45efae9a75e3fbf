package org.stele.tserver.files;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.FileStore;
import org.stele.core.time.Clock;

/**
 * Deletes sorted files that neither metadata nor a view of this server refers to, after a time of
 * grace, then has their delete rows removed. What cannot be deleted now is tried again after the
 * same time. The rows in metadata outlive the process, so nothing is lost with this list.
 *
 * <p>Thread-safe; the deletions are done by the thread files-collector.
 */
public final class FileCollector implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(FileCollector.class);
  private static final int MAX_WAITING = 100_000;
  private static final long CLOSE_MILLIS = 10_000;
  private static final long LEAST_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final FileStore store;
  private final DeletedFiles deletedFiles;
  private final Clock clock;
  private final long graceNanos;
  private final Thread thread;
  private final AtomicLong deleted = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();

  /** In order of their time. */
  @GuardedBy("this")
  private final Deque<Waiting> waiting = new ArrayDeque<>();

  @GuardedBy("this")
  private boolean closed;

  /** Removes the delete rows of files that are gone. */
  @FunctionalInterface
  public interface DeletedFiles {
    void commit(String tableId, List<String> fileIds) throws IOException;
  }

  private record Waiting(String tableId, String fileId, long dueNanos) {}

  public FileCollector(FileStore store, DeletedFiles deletedFiles, Clock clock, Duration grace) {
    this.store = store;
    this.deletedFiles = deletedFiles;
    this.clock = clock;
    this.graceNanos = grace.toNanos();
    this.thread = new Thread(this::run, "files-collector");
    thread.setDaemon(true);
  }

  public FileCollector start() {
    thread.start();
    return this;
  }

  /** Deletes the file when the time of grace is over. */
  public void collect(String tableId, String fileId) {
    add(tableId, fileId, graceNanos);
  }

  private synchronized void add(String tableId, String fileId, long delayNanos) {
    if (closed || waiting.size() >= MAX_WAITING) {
      return; // its row in metadata brings it back
    }
    waiting.addLast(new Waiting(tableId, fileId, clock.nanos() + delayNanos));
    notifyAll();
  }

  /** Files that wait for their time. */
  public synchronized int waiting() {
    return waiting.size();
  }

  public long deleted() {
    return deleted.get();
  }

  public long failures() {
    return failures.get();
  }

  private void run() {
    try {
      while (awaitDue()) {
        runOnce();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean awaitDue() throws InterruptedException {
    while (!closed) {
      Waiting first = waiting.peekFirst();
      if (first == null) {
        wait();
        continue;
      }
      long nanos = first.dueNanos - clock.nanos();
      if (nanos <= 0) {
        return true;
      }
      TimeUnit.NANOSECONDS.timedWait(this, nanos);
    }
    return false;
  }

  /** Deletes what is due. */
  public void runOnce() {
    Map<String, List<String>> byTable = new TreeMap<>();
    for (Waiting file : takeDue()) {
      if (delete(file)) {
        byTable.computeIfAbsent(file.tableId, id -> new ArrayList<>()).add(file.fileId);
      }
    }
    byTable.forEach(this::commit);
  }

  private synchronized List<Waiting> takeDue() {
    List<Waiting> due = new ArrayList<>();
    long now = clock.nanos();
    for (Waiting first = waiting.peekFirst();
        first != null && first.dueNanos - now <= 0;
        first = waiting.peekFirst()) {
      due.add(waiting.removeFirst());
    }
    return due;
  }

  private boolean delete(Waiting file) {
    try {
      store.delete(FileNames.path(file.tableId, file.fileId));
      deleted.incrementAndGet();
      return true;
    } catch (IOException e) {
      again(file.tableId, List.of(file.fileId), e);
      return false;
    }
  }

  private void commit(String tableId, List<String> fileIds) {
    try {
      deletedFiles.commit(tableId, fileIds);
    } catch (IOException | RuntimeException e) {
      again(tableId, fileIds, e);
    }
  }

  private void again(String tableId, List<String> fileIds, Exception cause) {
    failures.incrementAndGet();
    LOG.warn("files {} of table {} are to be deleted later", fileIds, tableId, cause);
    long delay = Math.max(graceNanos, LEAST_RETRY_NANOS);
    fileIds.forEach(fileId -> add(tableId, fileId, delay));
  }

  /** Ends the thread; what waits stays in metadata. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
