package org.stele.client.retry;

import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.stele.core.time.Clock;

/**
 * Decides for every kind of call whether and when a failed attempt is followed by another: by the
 * table of error codes (docs/errors.md), within the operation's deadline and the client's {@link
 * RetryBudget}, after a wait.
 *
 * <p><b>Waits.</b> The ceiling of the n-th wait is base × 2^n, at most the cap. The wait is drawn
 * evenly between base and 1.25 × ceiling, so that clients that failed together come back apart and
 * no wait is under base. A server's own proposal (retryAfterMs) is kept to: the wait is drawn
 * evenly between it and the ceiling above it, at least a quarter of it, and where it would end
 * after the deadline there is no other attempt. Near the deadline the wait, or what is drawn of it
 * above a proposal, is cut to half of what is left, so that there is a last attempt.
 *
 * <p>Thread-safe.
 */
public final class RetryPolicy {
  private static final double JITTER = 1.25;

  /** 2^40 × 1 ns is longer than the largest cap allows before: no shift beyond. */
  private static final int MAX_SHIFT = 40;

  private final RetryOptions options;
  private final Clock clock;
  private final DoubleSupplier random;
  private final RetryBudget budget;

  /**
   * @param random evenly distributed from 0 (with it) to 1 (without), thread-safe
   */
  public RetryPolicy(RetryOptions options, Clock clock, DoubleSupplier random) {
    this.options = options;
    this.clock = clock;
    this.random = random;
    this.budget = new RetryBudget(options, clock);
  }

  /**
   * Begins an operation with its first attempt.
   *
   * @param changes whether it changes something, so that an unknown outcome matters
   * @param deadlineNanos on the clock's nanoseconds
   */
  public Attempts begin(Operation operation, boolean changes, long deadlineNanos) {
    budget.firstAttempt();
    return new Attempts(this, clock, operation, changes, deadlineNanos);
  }

  boolean mayRetry() {
    return budget.spend();
  }

  long shortestWaitNanos() {
    return options.base().toNanos();
  }

  /**
   * The wait before retry number {@code retry} (from 0), in nanoseconds.
   *
   * @param retryAfterMillis the server's proposal; 0: none
   * @param leftNanos until the deadline, more than base and proposal
   */
  long waitNanos(int retry, int retryAfterMillis, long leftNanos) {
    long base = options.base().toNanos();
    long cap = options.cap().toNanos();
    long ceiling =
        retry >= MAX_SHIFT || base > cap >> retry ? cap : base << retry; // cannot overflow
    double chance = random.getAsDouble();
    if (retryAfterMillis > 0) {
      long proposed = TimeUnit.MILLISECONDS.toNanos(retryAfterMillis);
      long above = Math.max(ceiling, proposed / 4);
      return proposed + (long) (Math.min(above, (leftNanos - proposed) / 2) * chance);
    }
    long wait = base + (long) ((ceiling * JITTER - base) * chance);
    return Math.max(Math.min(wait, leftNanos / 2), base);
  }

  /** What is done, in words for messages; asked only when it failed. */
  @FunctionalInterface
  public interface Operation {
    String describe();
  }
}
