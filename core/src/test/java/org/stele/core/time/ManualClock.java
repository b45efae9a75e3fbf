package org.stele.core.time;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that a test moves by hand. Wall and monotonic time move together, and the wall can be
 * stepped alone. Thread-safe.
 */
public final class ManualClock implements Clock {
  private final AtomicLong wallMillis;
  private final AtomicLong nanos;

  /** Starts at some day of 2026, and at some time since the machine started. */
  public ManualClock() {
    this(1_780_000_000_000L, 5_000_000_000L);
  }

  public ManualClock(long wallMillis, long nanos) {
    this.wallMillis = new AtomicLong(wallMillis);
    this.nanos = new AtomicLong(nanos);
  }

  @Override
  public long wallMillis() {
    return wallMillis.get();
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  /** Moves both times on; the wall moves by whole milliseconds. */
  public void advance(Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException("time does not run backwards: step the wall instead");
    }
    nanos.addAndGet(duration.toNanos());
    wallMillis.addAndGet(duration.toMillis());
  }

  /** Sets the wall time alone, as an operator or a time service does; also backwards. */
  public void stepWall(long newWallMillis) {
    wallMillis.set(newWallMillis);
  }
}
