package org.stele.tserver.wal;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The entries that wait for {@code wal-sync}, in order of their coming, and the bound on all that
 * are in the log's hands: an entry counts until it is told what became of it. Thread-safe, never
 * blocks.
 */
final class LogQueue {
  private static final int MOST_ENTRIES = 1 << 18;

  private final long mostBytes;
  private final Queue<LogEntry> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger entries = new AtomicInteger();

  LogQueue(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /** False: there is no room. A single entry finds room whatever its size. */
  boolean add(LogEntry entry) {
    int size = entry.sizeHint();
    long before = bytes.getAndAdd(size);
    boolean fits =
        entries.incrementAndGet() <= MOST_ENTRIES && (before == 0 || before + size <= mostBytes);
    if (!fits) {
      settled(size, 1);
      return false;
    }
    waiting.add(entry);
    return true;
  }

  /** The next entry, which still counts; null if none waits. */
  @Nullable LogEntry poll() {
    return waiting.poll();
  }

  /** Takes an entry back; false if it does not wait any more. */
  boolean remove(LogEntry entry) {
    if (!waiting.remove(entry)) {
      return false;
    }
    settled(entry.sizeHint(), 1);
    return true;
  }

  /** So many entries are told what became of them and count no more. */
  void settled(long settledBytes, int settledEntries) {
    bytes.addAndGet(-settledBytes);
    entries.addAndGet(-settledEntries);
  }

  /** Whether none waits for {@code wal-sync}. */
  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Bytes of all that count. */
  long bytes() {
    return bytes.get();
  }
}
