package org.stele.tserver.wal;

import static java.util.Objects.requireNonNull;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.tserver.wal.LogGroup.Fate;

/**
 * The last stage of a log: tells entries what became of them, group by group, in the order in which
 * the groups were settled. Its loop is the thread {@code wal-apply}.
 */
final class LogApplier {
  private final LogQueue queue;
  private final LogState state;
  private final LogMetrics metrics;
  private final Consumer<Runnable> aroundGroup;

  // Thread-safe.
  private final Queue<LogGroup> settled = new ConcurrentLinkedQueue<>();
  private final Doorbell bell = new Doorbell();

  /** Nothing more comes into {@code settled}, unless close gave up a thread that comes back. */
  private volatile boolean mayEnd;

  /** Who puts a group into {@code settled} now has to tell it itself. */
  private volatile boolean ended;

  /** Why nothing is applied any more; written by wal-apply. */
  private volatile @Nullable SteleException failure;

  /**
   * @param aroundGroup runs what tells the entries of one group, at once
   */
  LogApplier(LogQueue queue, LogState state, LogMetrics metrics, Consumer<Runnable> aroundGroup) {
    this.queue = queue;
    this.state = state;
    this.metrics = metrics;
    this.aroundGroup = aroundGroup;
  }

  /** A group has its fate: its entries are told soon. Any of the log's threads. */
  void settled(LogGroup group) {
    settled.add(group);
    bell.ring();
    if (ended) {
      stepAll();
    }
  }

  /** No group comes any more: the loop ends when all are told. */
  void end() {
    mayEnd = true;
    bell.ring();
  }

  void run() {
    while (!(mayEnd && settled.isEmpty())) {
      if (!step()) {
        bell.await(() -> mayEnd || !settled.isEmpty());
      }
    }
    ended = true;
    stepAll();
  }

  private void stepAll() {
    while (step()) {
      // until nothing is left
    }
  }

  /**
   * Tells the entries of the next group what became of them.
   *
   * @return whether there was one
   */
  boolean step() {
    LogGroup group = settled.poll();
    if (group == null) {
      return false;
    }
    aroundGroup.accept(() -> tellAll(group));
    queue.settled(group.bytes(), group.size());
    return true;
  }

  private void tellAll(LogGroup group) {
    for (LogEntry entry : group.entries()) {
      tell(entry, group);
    }
  }

  /** An entry that throws has left its tablet in an unknown state: nothing is applied after it. */
  private void tell(LogEntry entry, LogGroup group) {
    Exception cause = group.cause();
    SteleException stopped = failure;
    Exception refusal = group.refusal(entry);
    try {
      if (refusal != null) {
        refuse(entry, refusal);
      } else if (group.fate() == Fate.REFUSED) {
        refuse(entry, requireNonNull(cause));
      } else if (cause != null || stopped != null) {
        metrics.failed.increment();
        entry.failed(cause == null ? requireNonNull(stopped) : cause);
      } else {
        entry.committed();
        metrics.committed.increment();
      }
    } catch (RuntimeException | Error e) {
      SteleException unapplied =
          new SteleException(
              ErrorCode.UNKNOWN_OUTCOME, "a write is logged but could not be applied", e);
      failure = unapplied;
      state.breakLog(unapplied);
      if (stopped == null && cause == null && refusal == null) {
        tell(entry, group);
      }
    }
  }

  /** Tells an entry that it is not in the log. Any thread. */
  void refuse(LogEntry entry, Exception reason) {
    metrics.refused.increment();
    entry.refused(reason);
  }
}
