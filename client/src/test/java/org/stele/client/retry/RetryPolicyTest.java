package org.stele.client.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

class RetryPolicyTest {
  private static final Duration BASE = Duration.ofMillis(1);
  private static final Duration CAP = Duration.ofMillis(200);

  private final ManualClock clock = new ManualClock();
  private final Random random = new Random(1);

  /** Time that stands still unless it is moved. */
  private static final class ManualClock implements Clock {
    private long nanos = 1_000;

    @Override
    public long wallMillis() {
      return nanos / 1_000_000;
    }

    @Override
    public long nanos() {
      return nanos;
    }
  }

  private RetryPolicy policy(double share, double floor, int burst) {
    return new RetryPolicy(
        RetryOptions.defaults().withWaits(BASE, CAP).withBudget(share, floor, burst),
        clock,
        random::nextDouble);
  }

  private Attempts begin(RetryPolicy policy, boolean changes, Duration deadline) {
    return policy.begin(() -> "test", changes, clock.nanos + deadline.toNanos());
  }

  private static AttemptException refused() {
    return AttemptException.notSent("h:1", "connection refused", null);
  }

  @Test
  void twentyThousandWaitsRiseToTheCapAndStayThere() {
    RetryPolicy policy = policy(0, 1e6, Integer.MAX_VALUE);
    Attempts attempts = begin(policy, false, Duration.ofDays(1));
    Set<Long> different = new HashSet<>();
    long early = 0;
    long late = 0;
    for (int i = 0; i < 20_000; i++) {
      long wait = attempts.failed(refused());
      assertTrue(
          wait >= BASE.toNanos() && wait <= CAP.toNanos() * 1.25, i + ": waits " + wait + " ns");
      long ceiling = i < 8 ? BASE.toNanos() << i : CAP.toNanos();
      assertTrue(wait <= ceiling * 1.25, i + ": waits " + wait + " ns");
      if (i < 4) {
        early = Math.max(early, wait);
      } else if (i >= 1000) {
        late = Math.max(late, wait);
        different.add(wait);
      }
      clock.nanos += wait;
    }
    assertEquals(20_001, attempts.attempt());
    assertTrue(early <= 10e6 && late > 200e6, early + " " + late);
    assertTrue(different.size() > 10_000, different.size() + " different waits");
  }

  @Test
  void extremeOptionsDoNotOverflow() {
    for (Duration cap : new Duration[] {Duration.ofNanos(1), Duration.ofHours(1)}) {
      RetryPolicy policy =
          new RetryPolicy(
              RetryOptions.defaults()
                  .withWaits(Duration.ofNanos(1), cap)
                  .withBudget(0, 1e6, Integer.MAX_VALUE),
              clock,
              random::nextDouble);
      for (int i : new int[] {0, 1, 31, 32, 40, 62, 63, 64, 65, 1000, Integer.MAX_VALUE}) {
        long wait = policy.waitNanos(i, 0, Long.MAX_VALUE / 2);
        assertTrue(wait >= 1 && wait <= cap.toNanos() * 1.25 + 1, i + ": " + wait);
      }
      long proposed = policy.waitNanos(3, Integer.MAX_VALUE, Long.MAX_VALUE / 2);
      assertTrue(proposed >= Integer.MAX_VALUE * 1_000_000L, "" + proposed);
    }
  }

  @Test
  void serversProposalIsTheLeastWait() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofHours(1));
    AttemptException busy = AttemptException.replied("h:1", SteleException.busy("full", 700));
    long wait = attempts.failed(busy);
    assertTrue(wait >= 700e6 && wait <= 875e6, "" + wait);
  }

  @Test
  void deadlineEndsItWithALastAttemptShortlyBefore() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    long start = clock.nanos;
    long lastAttempt = 0;
    SteleException end = null;
    while (end == null) {
      try {
        clock.nanos += attempts.failed(refused());
        lastAttempt = clock.nanos;
      } catch (SteleException e) {
        end = e;
      }
    }
    assertEquals(ErrorCode.DEADLINE_EXCEEDED, end.code());
    assertTrue(clock.nanos - start <= 1_002_000_000L, "" + (clock.nanos - start));
    assertTrue(lastAttempt - start > 900_000_000L);
    assertTrue(end.getMessage().contains("test failed at server h:1 after "), end.getMessage());
    assertTrue(end.getMessage().contains("connection refused"), end.getMessage());
  }

  @Test
  void aLastAttemptWithoutTimeDoesNotHideTheCause() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    attempts.failed(refused());
    clock.nanos += 999_500_000;
    AttemptException late = AttemptException.timedOut("other:2", "no time left to look");
    SteleException end = assertThrows(SteleException.class, () -> attempts.failed(late));
    assertEquals(ErrorCode.DEADLINE_EXCEEDED, end.code());
    assertTrue(end.getMessage().contains("no time left to look"), end.getMessage());
    assertTrue(end.getMessage().contains("at server h:1: connection refused"), end.getMessage());
  }

  @Test
  void noAttemptBeginsWithoutTime() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    clock.nanos += Duration.ofSeconds(1).minus(BASE).toNanos();
    assertThrows(SteleException.class, () -> attempts.failed(refused()));

    Attempts more = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    clock.nanos += Duration.ofSeconds(1).minus(BASE).toNanos() - 1;
    assertEquals(BASE.toNanos(), more.failed(refused()));
  }

  @Test
  void spentBudgetGivesTheLastErrorToTheCaller() {
    RetryPolicy policy = policy(0.2, 10, 5);
    Attempts attempts = begin(policy, false, Duration.ofHours(1));
    for (int i = 0; i < 5; i++) {
      attempts.failed(refused());
    }
    SteleException e = assertThrows(SteleException.class, () -> attempts.failed(refused()));
    assertEquals(ErrorCode.UNAVAILABLE, e.code());
    assertTrue(e.getMessage().contains("retry budget"), e.getMessage());

    clock.nanos += 300_000_000; // three by the floor
    Attempts more = begin(policy, false, Duration.ofHours(1));
    for (int i = 0; i < 3; i++) {
      more.failed(refused());
    }
    assertThrows(SteleException.class, () -> more.failed(refused()));

    for (int i = 0; i < 10; i++) { // two by the share, with this one
      begin(policy, false, Duration.ofHours(1));
    }
    Attempts last = begin(policy, false, Duration.ofHours(1));
    last.failed(refused());
    last.failed(refused());
    assertThrows(SteleException.class, () -> last.failed(refused()));
  }

  @Test
  void everyCodeIsRetriedAsTheTableSays() {
    for (ErrorCode code : ErrorCode.values()) {
      Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofHours(1));
      AttemptException failure =
          AttemptException.replied("h:1", new SteleException(code, "because"));
      boolean retried;
      try {
        attempts.failed(failure);
        retried = true;
      } catch (SteleException e) {
        retried = false;
        assertEquals(code, e.code());
      }
      boolean attemptOnly = code == ErrorCode.DEADLINE_EXCEEDED;
      assertEquals(
          attemptOnly || code.retry() == ErrorCode.Retry.WITH_BACKOFF, retried, code.name());
      assertEquals(attemptOnly || code.refreshesLocation(), failure.refreshesLocation());
    }
  }

  @Test
  void unknownOutcomeOfAChangeStaysUnknown() {
    Attempts attempts = begin(policy(0, 1e6, 1000), true, Duration.ofHours(1));
    attempts.failed(AttemptException.lost("h:1", "reset", null));
    assertTrue(attempts.isOutcomeUnknown());
    SteleException e =
        assertThrows(
            SteleException.class,
            () ->
                attempts.failed(
                    AttemptException.replied(
                        "h:1", new SteleException(ErrorCode.CONSTRAINT, "no"))));
    assertEquals(ErrorCode.UNKNOWN_OUTCOME, e.code());

    Attempts read = begin(policy(0, 1e6, 1000), false, Duration.ofHours(1));
    read.failed(AttemptException.timedOut("h:1", "silence"));
    assertFalse(read.isOutcomeUnknown());
  }

  @Test
  void impossibleOptionsAreRefused() {
    RetryOptions good = RetryOptions.defaults();
    assertThrows(
        IllegalArgumentException.class, () -> good.withWaits(Duration.ZERO, Duration.ofMillis(1)));
    assertThrows(
        IllegalArgumentException.class,
        () -> good.withWaits(Duration.ofMillis(2), Duration.ofMillis(1)));
    assertThrows(IllegalArgumentException.class, () -> good.withBudget(-1, 1, 1));
    assertThrows(IllegalArgumentException.class, () -> good.withBudget(Double.NaN, 1, 1));
    assertThrows(IllegalArgumentException.class, () -> good.withBudget(1, 1, 0));
  }
}
