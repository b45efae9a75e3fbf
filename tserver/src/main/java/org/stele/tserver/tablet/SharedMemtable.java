package org.stele.tserver.tablet;

import java.util.concurrent.atomic.AtomicInteger;
import org.stele.tserver.memtable.Memtable;
import org.stele.tserver.write.MemoryBudget;

/**
 * A memtable and who uses it: the view states it is part of. When the last of them ends its memory
 * is given back. Thread-safe, except for the memtable's own rule of one writer.
 */
final class SharedMemtable {
  private final Memtable memtable;
  private final MemoryBudget budget;
  private final AtomicInteger users = new AtomicInteger();

  SharedMemtable(Memtable memtable, MemoryBudget budget) {
    this.memtable = memtable;
    this.budget = budget;
  }

  Memtable memtable() {
    return memtable;
  }

  void retain() {
    users.incrementAndGet();
  }

  void release() {
    if (users.decrementAndGet() == 0) {
      budget.release(memtable.bytes());
    }
  }
}
