package org.stele.tserver.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PaceTest {
  private static final int RATE = 1_000_000;
  private static final int WRITE = 10_000;

  private double scarcity;
  private long now = TimeUnit.SECONDS.toNanos(5);
  private final Pace pace = new Pace(RATE, () -> scarcity);

  /** Bytes that pass within two seconds, tried each millisecond. */
  private long passIn2Seconds() {
    long bytes = 0;
    for (int i = 0; i < 2000; i++) {
      now += TimeUnit.MILLISECONDS.toNanos(1);
      while (bytes < 1_000_000_000L && pace.isOpen(now)) {
        pace.passed(WRITE, now);
        bytes += WRITE;
      }
    }
    return bytes;
  }

  @ParameterizedTest
  @CsvSource({"0.1,9.0", "0.25,3.0", "0.5,1.0", "0.75,0.333", "0.9,0.111"})
  void theRateFallsSmoothly(double now, double rates) {
    scarcity = now;
    assertEquals(2 * RATE * rates, (double) passIn2Seconds(), 0.02 * 2 * RATE * rates + 2 * WRITE);
  }

  @Test
  void allPassWhileThereIsEnoughAndNoneWhenThereIsNoneLeft() {
    scarcity = -3;
    assertEquals(1_000_000_000L, passIn2Seconds());
    scarcity = 0;
    assertEquals(1_000_000_000L, passIn2Seconds());
    scarcity = 1;
    assertEquals(0, passIn2Seconds());
    scarcity = 1.5;
    assertEquals(0, passIn2Seconds());
  }

  @Test
  void aLargeWriteHoldsUpNobodyWhenThereIsEnoughAgain() {
    scarcity = 0.99;
    now += 1;
    assertTrue(pace.isOpen(now));
    pace.passed(100 * RATE, now);
    assertFalse(pace.isOpen(now));
    scarcity = 0;
    assertTrue(pace.isOpen(now));
  }
}
