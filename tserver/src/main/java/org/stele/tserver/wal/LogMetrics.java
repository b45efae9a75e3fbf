package org.stele.tserver.wal;

import java.util.concurrent.atomic.LongAdder;
import org.stele.core.time.Clock;

/** What a log has done since it was opened. Any thread may read. */
public final class LogMetrics {
  private final Clock clock;

  final LongAdder appends = new LongAdder();
  final LongAdder full = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder committed = new LongAdder();
  final LongAdder failed = new LongAdder();
  final LongAdder bytes = new LongAdder();
  final LongAdder groups = new LongAdder();
  final LongAdder syncs = new LongAdder();
  final LongAdder syncNanos = new LongAdder();
  final LongAdder failedFiles = new LongAdder();
  final LongAdder createdFiles = new LongAdder();
  final LongAdder deletedFiles = new LongAdder();

  LogMetrics(Clock clock) {
    this.clock = clock;
  }

  long nanos() {
    return clock.nanos();
  }

  void syncedSince(long began) {
    syncs.increment();
    syncNanos.add(clock.nanos() - began);
  }

  /** Entries taken. */
  public long appends() {
    return appends.sum();
  }

  /** Entries not taken because those waiting were at their bound. */
  public long full() {
    return full.sum();
  }

  /** Entries that never got into the log. */
  public long refused() {
    return refused.sum();
  }

  public long committed() {
    return committed.sum();
  }

  /** Entries with an unknown outcome. */
  public long failed() {
    return failed.sum();
  }

  /** Bytes written. */
  public long bytes() {
    return bytes.sum();
  }

  /** Writes to the file, each with all entries that waited. */
  public long groups() {
    return groups.sum();
  }

  public long syncs() {
    return syncs.sum();
  }

  /** Time spent in syncs. */
  public long syncNanos() {
    return syncNanos.sum();
  }

  /** Files given up because a write or a sync failed. */
  public long failedFiles() {
    return failedFiles.sum();
  }

  public long createdFiles() {
    return createdFiles.sum();
  }

  public long deletedFiles() {
    return deletedFiles.sum();
  }
}
