package org.stele.server.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private final List<Long> pauses = new ArrayList<>();
  private double random;

  private final Backoff backoff =
      new Backoff(() -> random, nanos -> pauses.add(TimeUnit.NANOSECONDS.toMillis(nanos)));

  private List<Long> pausesOfTenAttempts() {
    pauses.clear();
    for (int attempts = 1; attempts <= 10; attempts++) {
      assertTrue(backoff.pause(attempts));
    }
    return List.copyOf(pauses);
  }

  @Test
  void pausesBecomeLongerUpToABound() {
    random = 1;
    assertEquals(
        List.of(10L, 20L, 40L, 80L, 160L, 320L, 640L, 640L, 640L, 640L), pausesOfTenAttempts());
  }

  @Test
  void thereIsAlwaysAPauseAndItsLengthIsChance() {
    random = 0;
    assertEquals(List.of(5L, 5L, 5L, 5L, 5L, 5L, 5L, 5L, 5L, 5L), pausesOfTenAttempts());
    random = 0.5;
    assertEquals(322L, pausesOfTenAttempts().get(9));
  }

  @Test
  void anInterruptEndsThePause() {
    Backoff interrupted =
        new Backoff(
            () -> 0,
            nanos -> {
              throw new InterruptedException();
            });
    assertFalse(interrupted.pause(1));
    assertTrue(Thread.interrupted());
  }
}
