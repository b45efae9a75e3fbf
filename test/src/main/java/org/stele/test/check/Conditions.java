package org.stele.test.check;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits for what must become true. */
public final class Conditions {
  private static final long POLL_NANOS = 20_000_000;

  private Conditions() {}

  /**
   * Returns as soon as the condition holds.
   *
   * @throws AssertionError naming {@code what} if it does not hold within {@code limit}
   */
  public static void await(String what, Duration limit, Callable<Boolean> condition) {
    long end = System.nanoTime() + limit.toNanos();
    try {
      while (!condition.call()) {
        if (System.nanoTime() > end) {
          throw new AssertionError(what + " does not hold after " + limit);
        }
        LockSupport.parkNanos(POLL_NANOS);
      }
    } catch (AssertionError | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(what + ": " + e, e);
    }
  }
}
