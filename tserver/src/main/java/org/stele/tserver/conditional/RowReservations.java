package org.stele.tserver.conditional;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.TimeUnit;
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
    Reservation reservation = new Reservation();
    boolean complete = false;
    lock.lockInterruptibly();
    try {
      for (Map.Entry<Bytes, Boolean> row : rows.entrySet()) {
        if (!takeLocked(row.getKey(), row.getValue(), deadlineNanos)) {
          return null;
        }
        reservation.rows.add(row);
      }
      complete = true;
      return reservation;
    } finally {
      if (!complete) {
        releaseLocked(reservation);
      }
      lock.unlock();
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
  private void releaseLocked(Reservation reservation) {
    for (Map.Entry<Bytes, Boolean> row : reservation.rows) {
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
    reservation.rows.clear();
    released.signalAll();
  }

  /** Rows that are held; closing gives them back, once. */
  final class Reservation implements AutoCloseable {
    @GuardedBy("lock")
    private final List<Map.Entry<Bytes, Boolean>> rows = new ArrayList<>();

    @Override
    public void close() {
      lock.lock();
      try {
        releaseLocked(this);
      } finally {
        lock.unlock();
      }
    }
  }
}
