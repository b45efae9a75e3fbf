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
import org.stele.core.time.ManualClock;

class RetryPolicyTest {
  private static final Duration BASE = Duration.ofMillis(1);
  private static final Duration CAP = Duration.ofMillis(200);

  private final ManualClock clock = new ManualClock();
  private final Random random = new Random(1);

  private RetryPolicy policy(double share, double floor, int burst) {
    return new RetryPolicy(
        RetryOptions.defaults().withWaits(BASE, CAP).withBudget(share, floor, burst),
        clock,
        random::nextDouble);
  }

  private Attempts begin(RetryPolicy policy, boolean changes, Duration deadline) {
    return policy.begin(() -> "test", changes, clock.nanos() + deadline.toNanos());
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
      clock.advance(Duration.ofNanos(wait));
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
  void noWaitIsShorterThanTheProposalAndAllAreSpreadAboveIt() {
    RetryPolicy policy = policy(0, 1e6, 100_000);
    for (int proposal : new int[] {1, 7, 100, 5_000}) {
      long proposed = proposal * 1_000_000L;
      for (long left : new long[] {proposed + 2_000_001, 2 * proposed, 600_000_000_000L}) {
        if (left <= proposed + BASE.toNanos()) {
          continue;
        }
        long least = Long.MAX_VALUE;
        long most = 0;
        for (int i = 0; i < 2000; i++) {
          long wait = policy.waitNanos(i % 20, proposal, left);
          assertTrue(wait >= proposed && wait < left, proposal + " ms: waits " + wait + " ns");
          least = Math.min(least, wait);
          most = Math.max(most, wait);
        }
        long room = Math.min(Math.max(CAP.toNanos(), proposed / 4), (left - proposed) / 2);
        assertTrue(least - proposed < room / 20, least + " of " + proposed);
        assertTrue(most - proposed > room - room / 20, most + " of " + (proposed + room));
      }
    }
  }

  @Test
  void proposalBehindTheDeadlineGivesBusyToTheCallerAtOnce() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    AttemptException busy = AttemptException.replied("h:1", SteleException.busy("full", 1000));
    SteleException e = assertThrows(SteleException.class, () -> attempts.failed(busy));
    assertEquals(ErrorCode.BUSY, e.code());
    assertEquals(1000, e.retryAfterMillis());
    assertTrue(e.getMessage().contains("proposes to wait"), e.getMessage());

    Attempts more = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    long wait = more.failed(AttemptException.replied("h:1", SteleException.busy("full", 990)));
    assertTrue(wait >= 990_000_000 && wait <= 995_000_000, "" + wait);
  }

  @Test
  void busyCallKeepsItsFirstDeadline() {
    Duration timeout = Duration.ofSeconds(8);
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofMinutes(1));
    AttemptException busy = AttemptException.replied("h:1", SteleException.busy("full", 20));
    long first = attempts.attemptDeadlineNanos(timeout.toNanos());
    assertEquals(clock.nanos() + timeout.toNanos(), first);
    for (int i = 0; i < 3; i++) {
      attempts.failed(busy);
      clock.advance(Duration.ofSeconds(2));
      assertEquals(first, attempts.attemptDeadlineNanos(timeout.toNanos()));
    }
    attempts.failed(busy);
    clock.advance(Duration.ofSeconds(1)); // an eighth is left: too little for an attempt
    long second = attempts.attemptDeadlineNanos(timeout.toNanos());
    assertEquals(clock.nanos() + timeout.toNanos(), second);

    attempts.failed(refused()); // an attempt elsewhere has its own time
    clock.advance(Duration.ofSeconds(1));
    assertEquals(
        clock.nanos() + timeout.toNanos(), attempts.attemptDeadlineNanos(timeout.toNanos()));

    Attempts brief = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(5));
    long end = clock.nanos() + Duration.ofSeconds(5).toNanos();
    for (int i = 0; i < 4; i++) {
      assertEquals(end, brief.attemptDeadlineNanos(timeout.toNanos()));
      brief.failed(busy);
      clock.advance(Duration.ofSeconds(1));
    }
  }

  @Test
  void whateverTheTrafficTenRetriesPerSecondAreMade() {
    RetryOptions defaults = RetryOptions.defaults();
    assertEquals(10, defaults.budgetFloorPerSecond());
    RetryPolicy policy = new RetryPolicy(defaults.withBudget(0, 10, 1), clock, random::nextDouble);
    int retries = 0;
    int refusals = 0;
    AttemptException busy = AttemptException.replied("h:1", SteleException.busy("full", 1));
    for (int millis = 0; millis < 60_000; millis += 5) {
      Attempts attempts = begin(policy, false, Duration.ofHours(1));
      try {
        attempts.failed(busy);
        retries++;
      } catch (SteleException e) {
        assertEquals(ErrorCode.BUSY, e.code());
        assertEquals(1, e.retryAfterMillis());
        refusals++;
      }
      clock.advance(Duration.ofMillis(5));
    }
    assertTrue(retries >= 599 && retries <= 601, retries + " retries in a minute");
    assertEquals(12_000, retries + refusals);
  }

  @Test
  void deadlineEndsItWithALastAttemptShortlyBefore() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    long start = clock.nanos();
    long lastAttempt = 0;
    SteleException end = null;
    while (end == null) {
      try {
        clock.advance(Duration.ofNanos(attempts.failed(refused())));
        lastAttempt = clock.nanos();
      } catch (SteleException e) {
        end = e;
      }
    }
    assertEquals(ErrorCode.DEADLINE_EXCEEDED, end.code());
    assertTrue(clock.nanos() - start <= 1_002_000_000L, "" + (clock.nanos() - start));
    assertTrue(lastAttempt - start > 900_000_000L);
    assertTrue(end.getMessage().contains("test failed at server h:1 after "), end.getMessage());
    assertTrue(end.getMessage().contains("connection refused"), end.getMessage());
  }

  @Test
  void aLastAttemptWithoutTimeDoesNotHideTheCause() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    attempts.failed(refused());
    clock.advance(Duration.ofNanos(999_500_000));
    AttemptException late = AttemptException.timedOut("other:2", "no time left to look");
    SteleException end = assertThrows(SteleException.class, () -> attempts.failed(late));
    assertEquals(ErrorCode.DEADLINE_EXCEEDED, end.code());
    assertTrue(end.getMessage().contains("no time left to look"), end.getMessage());
    assertTrue(end.getMessage().contains("at server h:1: connection refused"), end.getMessage());
  }

  @Test
  void noAttemptBeginsWithoutTime() {
    Attempts attempts = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    clock.advance(Duration.ofSeconds(1).minus(BASE));
    assertThrows(SteleException.class, () -> attempts.failed(refused()));

    Attempts more = begin(policy(0, 1e6, 1000), false, Duration.ofSeconds(1));
    clock.advance(Duration.ofNanos(Duration.ofSeconds(1).minus(BASE).toNanos() - 1));
    assertEquals(BASE.toNanos(), more.failed(refused()));
  }

  @Test
  void spentBudgetGivesBusyAndTheLastErrorToTheCaller() {
    RetryPolicy policy = policy(0.2, 10, 5);
    Attempts attempts = begin(policy, false, Duration.ofHours(1));
    for (int i = 0; i < 5; i++) {
      attempts.failed(refused());
    }
    SteleException e = assertThrows(SteleException.class, () -> attempts.failed(refused()));
    assertEquals(ErrorCode.BUSY, e.code());
    assertTrue(e.getMessage().contains("connection refused"), e.getMessage());
    assertTrue(e.getMessage().contains("retry budget of this client is spent"), e.getMessage());

    clock.advance(Duration.ofMillis(300)); // three by the floor
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
