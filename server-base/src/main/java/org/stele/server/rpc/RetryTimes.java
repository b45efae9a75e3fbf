package org.stele.server.rpc;

import java.util.concurrent.TimeUnit;

/**
 * Proposes to those that are refused when to come again: at different times, as far apart as calls
 * are done, so that each finds room. Not thread-safe.
 */
final class RetryTimes {
  private static final long LEAST_MILLIS = 10;
  private static final long MOST_MILLIS = 5000;

  /** When the last one that was refused comes again. */
  private long lastNanos;

  RetryTimes(long now) {
    lastNanos = now;
  }

  /**
   * @param apartNanos the time from the end of one call to that of the next, of all workers
   * @return milliseconds to wait
   */
  int next(long now, long apartNanos) {
    long wait = Math.max(lastNanos - now, 0) + apartNanos;
    wait = Math.min(wait, TimeUnit.MILLISECONDS.toNanos(MOST_MILLIS));
    lastNanos = now + wait;
    return (int) Math.max(LEAST_MILLIS, TimeUnit.NANOSECONDS.toMillis(wait));
  }
}
