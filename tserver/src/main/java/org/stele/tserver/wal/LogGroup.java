package org.stele.tserver.wal;

import java.util.ArrayList;
import java.util.IdentityHashMap;
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

  /** Those that could not be logged, each with the reason; null: none. */
  private @Nullable IdentityHashMap<LogEntry, Exception> refusals;

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

  /** An entry that has its place but is not in the log, whatever becomes of the group. */
  void addRefused(LogEntry entry, Exception reason) {
    entries.add(entry);
    bytes += entry.sizeHint();
    if (refusals == null) {
      refusals = new IdentityHashMap<>();
    }
    refusals.put(entry, reason);
  }

  /** Why an entry alone is refused; null: it shares the fate of the group. */
  @Nullable Exception refusal(LogEntry entry) {
    return refusals == null ? null : refusals.get(entry);
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
