package org.stele.tserver.flush;

import java.io.Closeable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletMap;
import org.stele.tserver.wal.WriteAheadLog;
import org.stele.tserver.write.MemoryBudget;

/**
 * Decides which tablets are flushed without being asked: the largest when memory gets scarce, and
 * those that hold the oldest logs when there are too many. (A tablet whose own memtable is large
 * says so itself.) Owns the thread flush-triggers, which looks each second and when memory is
 * scarce.
 */
public final class FlushTriggers implements Closeable {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long CLOSE_MILLIS = 10_000;

  private final TabletMap tablets;
  private final Flusher flusher;
  private final List<MemoryBudget> budgets;
  private final List<WriteAheadLog> logs;
  private final int retainedLogs;
  private final Thread thread;
  private volatile boolean pressed;
  private volatile boolean closed;

  public FlushTriggers(
      TabletMap tablets,
      Flusher flusher,
      List<MemoryBudget> budgets,
      List<WriteAheadLog> logs,
      int retainedLogs) {
    this.tablets = tablets;
    this.flusher = flusher;
    this.budgets = List.copyOf(budgets);
    this.logs = List.copyOf(logs);
    this.retainedLogs = retainedLogs;
    this.thread = new Thread(this::run, "flush-triggers");
    thread.setDaemon(true);
    budgets.forEach(memory -> memory.addPressureListener(this::press));
  }

  public FlushTriggers start() {
    thread.start();
    return this;
  }

  private void press() {
    if (!pressed) {
      pressed = true;
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!closed) {
      if (!pressed) {
        LockSupport.parkNanos(this, LOOK_NANOS);
      }
      pressed = false;
      runOnce();
    }
  }

  /** Asks for the flushes that are needed now. */
  public void runOnce() {
    budgets.forEach(this::flushForMemory);
    for (WriteAheadLog log : logs) {
      flushForLog(log);
    }
  }

  /** The largest tablets, until half of the budget is left when they are flushed. */
  private void flushForMemory(MemoryBudget memory) {
    long used = memory.used();
    if (used < memory.pressure()) {
      return;
    }
    List<Candidate> candidates = new ArrayList<>();
    for (Tablet tablet : tablets.all()) {
      long bytes = tablet.memtableBytes();
      if (bytes == 0 || tablet.memory() != memory) {
        continue;
      }
      if (flusher.isPending(tablet)) {
        used -= bytes;
      } else {
        candidates.add(new Candidate(tablet, bytes));
      }
    }
    candidates.sort(Comparator.comparingLong(Candidate::bytes).reversed());
    for (Candidate candidate : candidates) {
      if (used <= memory.limit() / 2) {
        return;
      }
      flusher.request(candidate.tablet);
      used -= candidate.bytes;
    }
  }

  private record Candidate(Tablet tablet, long bytes) {}

  private void flushForLog(WriteAheadLog log) {
    List<WriteAheadLog.LogFile> files = log.files();
    for (int i = 0; i < files.size() - retainedLogs; i++) {
      flush(files.get(i).tablets());
    }
  }

  private void flush(Set<String> tabletIds) {
    for (String tabletId : tabletIds) {
      @Nullable Tablet tablet = tablets.get(tabletId);
      if (tablet != null && !flusher.isPending(tablet)) {
        flusher.request(tablet);
      }
    }
  }

  /** Ends the thread. Idempotent. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
