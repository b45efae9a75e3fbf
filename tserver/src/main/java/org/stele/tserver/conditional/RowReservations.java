package org.stele.tserver.conditional;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.time.Clock;

/**
 * Rows that a batch has for itself from the check of its conditions until it is visible. Rows that
 * are only looked at may be shared. Everyone takes rows in their order, so nobody waits in a
 * circle. A reservation may be given back by another thread than the one that took it. Thread-safe.
 */
final class RowReservations {
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition released = lock.newCondition();

  @GuardedBy("lock")
  private final Map<Bytes, Hold> held = new HashMap<>();

  /** How a row is held: by one who changes it, or by so many who look at it. */
  private static final class Hold {
    int sharers;
    boolean exclusive;
  }

  RowReservations(Clock clock) {
    this.clock = clock;
  }

  /**
   * Takes rows, waiting for those who have them.
   *
   * @param rows in order; true: to change it
   * @return null if the deadline passed
   */
  @Nullable Reservation reserve(NavigableMap<Bytes, Boolean> rows, long deadlineNanos)
      throws InterruptedException {
    lock.lockInterruptibly();
    try {
      return reserveLocked(rows, deadlineNanos);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private @Nullable Reservation reserveLocked(NavigableMap<Bytes, Boolean> rows, long deadlineNanos)
      throws InterruptedException {
    List<Map.Entry<Bytes, Boolean>> taken = new ArrayList<>();
    boolean complete = false;
    try {
      for (Map.Entry<Bytes, Boolean> row : rows.entrySet()) {
        if (!takeLocked(row.getKey(), row.getValue(), deadlineNanos)) {
          return null;
        }
        taken.add(row);
      }
      complete = true;
      return new Reservation(taken);
    } finally {
      if (!complete) {
        releaseLocked(taken);
      }
    }
  }

  @GuardedBy("lock")
  private boolean takeLocked(Bytes row, boolean exclusive, long deadlineNanos)
      throws InterruptedException {
    while (true) {
      Hold hold = held.computeIfAbsent(row, any -> new Hold());
      boolean free = !hold.exclusive && (!exclusive || hold.sharers == 0);
      if (free) {
        hold.exclusive = exclusive;
        hold.sharers += exclusive ? 0 : 1;
        return true;
      }
      long left = deadlineNanos - clock.nanos();
      if (left <= 0) {
        return false;
      }
      var unused = released.await(left, TimeUnit.NANOSECONDS);
    }
  }

  @GuardedBy("lock")
  private void releaseLocked(List<Map.Entry<Bytes, Boolean>> rows) {
    for (Map.Entry<Bytes, Boolean> row : rows) {
      Hold hold = held.get(row.getKey());
      if (hold == null) {
        throw new IllegalStateException("row " + row.getKey() + " is not reserved");
      }
      if (row.getValue()) {
        hold.exclusive = false;
      } else {
        hold.sharers--;
      }
      if (!hold.exclusive && hold.sharers == 0) {
        held.remove(row.getKey());
      }
    }
    released.signalAll();
  }

  /** Rows that are held; closing gives them back, once. */
  final class Reservation implements AutoCloseable {
    private final List<Map.Entry<Bytes, Boolean>> rows;
    private final AtomicBoolean open = new AtomicBoolean(true);

    private Reservation(List<Map.Entry<Bytes, Boolean>> rows) {
      this.rows = rows;
    }

    @Override
    public void close() {
      if (!open.getAndSet(false)) {
        return;
      }
      lock.lock();
      try {
        releaseLocked(rows);
      } finally {
        lock.unlock();
      }
    }
  }
}
