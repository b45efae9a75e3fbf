package org.stele.tserver.wal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Durability;

/**
 * Entries that share one fate, on their way from {@code wal-sync} to {@code wal-apply}. Its fate is
 * settled once: by {@code wal-sync}, or by a close that no longer waits for it.
 */
final class LogGroup {
  private final List<LogEntry> entries = new ArrayList<>();
  private final AtomicBoolean settled = new AtomicBoolean();
  private Durability strictest = Durability.NONE;
  private long bytes;

  private Fate fate = Fate.COMMITTED;
  private @Nullable Exception cause;

  enum Fate {
    COMMITTED,
    FAILED,
    REFUSED
  }

  void add(LogEntry entry) {
    entries.add(entry);
    bytes += entry.sizeHint();
    strictest = strictest.strongerOf(entry.durability());
  }

  List<LogEntry> entries() {
    return entries;
  }

  int size() {
    return entries.size();
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** The sum of the entries' hints. */
  long bytes() {
    return bytes;
  }

  Durability strictest() {
    return strictest;
  }

  /** Returns whether the group had no fate before. */
  boolean settle(Fate newFate, @Nullable Exception newCause) {
    if (!settled.compareAndSet(false, true)) {
      return false;
    }
    fate = newFate;
    cause = newCause;
    return true;
  }

  Fate fate() {
    return fate;
  }

  @Nullable Exception cause() {
    return cause;
  }
}
