package org.stele.tserver.write;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of a server for writes that are not yet in sorted files, in bytes: of writes on their
 * way through the log and of memtables. Users' tablets share one, the metadata has one of its own:
 * a flush, which gives users' memory back, writes metadata, so users must never use that up.
 *
 * <p>From three quarters of the limit on writes are slowed down ({@link #pace}) and the largest
 * memtables flushed. A write counts as a quarter of the limit at most when it is let in, so that a
 * large one cannot wait for ever; what is used may exceed the limit by one write. Thread-safe,
 * never blocks; listeners are called on the thread that reserves or releases and must be short.
 */
public final class MemoryBudget {
  private static final int PRESSURE_NUMERATOR = 3;
  private static final int PRESSURE_DENOMINATOR = 4;

  /** Halfway between pressure and limit writes could fill the whole in this time. */
  private static final int HALFWAY_SECONDS = 4;

  private final long limit;
  private final long pressure;
  private final Pace pace;

  // Own synchronization.
  private final AtomicLong used = new AtomicLong();
  private final List<Runnable> whenPressed = new CopyOnWriteArrayList<>();
  private final List<Runnable> whenReleased = new CopyOnWriteArrayList<>();

  public MemoryBudget(long limit) {
    if (limit <= 0) {
      throw new IllegalArgumentException("a memory budget of " + limit + " bytes");
    }
    this.limit = limit;
    this.pressure = limit / PRESSURE_DENOMINATOR * PRESSURE_NUMERATOR;
    this.pace = new Pace(limit / HALFWAY_SECONDS, this::scarcity);
  }

  private double scarcity() {
    return (double) (used.get() - pressure) / (limit - pressure);
  }

  /** Slows writes down between {@link #pressure()} and {@link #limit()}. */
  public Pace pace() {
    return pace;
  }

  /** Called each time a reservation leaves the budget at or above {@link #pressure()}. */
  public void addPressureListener(Runnable listener) {
    whenPressed.add(listener);
  }

  /** Called after memory was given back. */
  public void addReleaseListener(Runnable listener) {
    whenReleased.add(listener);
  }

  /** Takes memory if there is room. */
  public boolean tryReserve(long bytes) {
    long counted = Math.min(bytes, limit / 4);
    long before;
    do {
      before = used.get();
      if (before + counted > limit) {
        whenPressed.forEach(Runnable::run);
        return false;
      }
    } while (!used.compareAndSet(before, before + bytes));
    if (before + bytes >= pressure) {
      whenPressed.forEach(Runnable::run);
    }
    return true;
  }

  /** Takes memory for what is there already: writes replayed from a log. */
  public void reserve(long bytes) {
    if (used.addAndGet(bytes) >= pressure) {
      whenPressed.forEach(Runnable::run);
    }
  }

  public void release(long bytes) {
    if (bytes == 0) {
      return;
    }
    long left = used.addAndGet(-bytes);
    if (left < 0) {
      throw new IllegalStateException(bytes + " bytes given back, " + -left + " more than taken");
    }
    whenReleased.forEach(Runnable::run);
  }

  public long used() {
    return used.get();
  }

  public long limit() {
    return limit;
  }

  /** From here on the largest memtables are flushed: three quarters of the limit. */
  public long pressure() {
    return pressure;
  }
}
