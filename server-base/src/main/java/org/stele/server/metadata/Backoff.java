package org.stele.server.metadata;

import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * The pauses before a batch is sent again whose outcome is unknown, or which another has overtaken:
 * longer each time, and of different length for those that failed together. Thread-safe.
 */
public final class Backoff {
  private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int DOUBLINGS = 7;

  private final DoubleSupplier random;
  private final Sleep sleep;

  /** Lets time pass. */
  @FunctionalInterface
  public interface Sleep {
    void nanos(long nanos) throws InterruptedException;
  }

  /**
   * @param random evenly distributed from 0 (with it) to 1 (without), thread-safe
   */
  public Backoff(DoubleSupplier random, Sleep sleep) {
    this.random = random;
    this.sleep = sleep;
  }

  /**
   * Waits.
   *
   * @param before how many attempts there were, at least one
   * @return false: the thread was interrupted, and still is
   */
  boolean pause(int before) {
    long most = LEAST_NANOS << Math.min(before, DOUBLINGS);
    try {
      sleep.nanos(LEAST_NANOS + (long) ((most - LEAST_NANOS) * random.getAsDouble()));
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
