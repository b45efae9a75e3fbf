package org.stele.client.retry;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.atomic.LongAdder;
import org.stele.core.time.Clock;

/**
 * Keeps the retries of a client below a share of its traffic, so that retries cannot hold an
 * overloaded server down. Every first attempt earns a share of a retry, every second a few more, up
 * to a bound; every retry spends one. Thread-safe.
 */
final class RetryBudget {
  private final RetryOptions options;
  private final Clock clock;
  private final LongAdder firstAttempts = new LongAdder();

  @GuardedBy("this")
  private double saved;

  @GuardedBy("this")
  private long counted;

  @GuardedBy("this")
  private long countedNanos;

  RetryBudget(RetryOptions options, Clock clock) {
    this.options = options;
    this.clock = clock;
    this.saved = options.budgetBurst();
    this.countedNanos = clock.nanos();
  }

  void firstAttempt() {
    firstAttempts.increment();
  }

  /** Whether a retry may be made; if so it is paid for. */
  synchronized boolean spend() {
    long attempts = firstAttempts.sum();
    long now = clock.nanos();
    saved =
        Math.min(
            options.budgetBurst(),
            saved
                + (attempts - counted) * options.budgetShare()
                + (now - countedNanos) / 1e9 * options.budgetFloorPerSecond());
    counted = attempts;
    countedNanos = now;
    if (saved < 1) {
      return false;
    }
    saved--;
    return true;
  }
}
