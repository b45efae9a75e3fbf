package org.stele.test.process;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NothingLeftRunningTest {
  private static final String VARIABLE = "STELE_LEFT_RUNNING";

  private final String mark = Long.toString(System.nanoTime());

  private Process start(String value) throws Exception {
    ProcessBuilder builder = new ProcessBuilder("sleep", "1000");
    builder.environment().put(VARIABLE, value);
    return builder.start();
  }

  @Test
  void whatIsLeftIsToldAndEnded() throws Exception {
    Process left = start(mark);
    Process other = start("of another");
    try {
      AssertionError told =
          assertThrows(
              AssertionError.class,
              () -> NothingLeftRunning.check(VARIABLE + "=" + mark, Duration.ZERO));
      assertTrue(told.getMessage().contains(left.pid() + "=sleep 1000"), told::getMessage);
      assertTrue(left.waitFor(10, TimeUnit.SECONDS));
      assertTrue(other.isAlive());
    } finally {
      left.destroyForcibly();
      other.destroyForcibly();
    }
  }

  @Test
  void whatHasEndedIsNotLeft() throws Exception {
    Process ended = start(mark);
    ended.destroyForcibly().waitFor();
    assertDoesNotThrow(() -> NothingLeftRunning.check(VARIABLE + "=" + mark, Duration.ZERO));
    assertFalse(ended.isAlive());
  }
}
