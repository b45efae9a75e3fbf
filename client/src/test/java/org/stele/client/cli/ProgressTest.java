package org.stele.client.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.stele.core.time.Clock;

class ProgressTest {
  private final ManualClock clock = new ManualClock();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void showsShareCountRateAndRemainingTime() {
    Progress progress = progress(Progress.Mode.LINES);
    progress.update(0.25, 1000);
    assertEquals(
        "x   25% [#######-----------------------]  1,000 rows  500 rows/s  0:06 left",
        progress.text(2));
    progress.update(1, 4000);
    assertEquals(
        "x  100% [##############################]  4,000 rows  500 rows/s  0:08 in all",
        progress.text(8));
    progress.update(-1, 4000);
    assertEquals("x  4,000 rows  500 rows/s", progress.text(8));
    progress.update(0, 0);
    assertEquals("x    0% [------------------------------]  0 rows  0 rows/s  ", progress.text(0));
  }

  @Test
  void drawsInPlaceOnATerminalAndNotTooOften() {
    Progress progress = progress(Progress.Mode.TERMINAL);
    for (int i = 1; i <= 1000; i++) {
      clock.nanos += 1_000_000;
      progress.update(i / 1000.0, i);
    }
    progress.close();
    String text = err.toString(UTF_8);
    assertEquals(11, text.chars().filter(c -> c == '\r').count());
    assertTrue(text.endsWith("in all\n"), text);
  }

  @Test
  void printsLinesElsewhereAndNothingIfNotWanted() {
    Progress lines = progress(Progress.Mode.LINES);
    Progress none = progress(Progress.Mode.NONE);
    for (int i = 1; i <= 50; i++) {
      clock.nanos += 100_000_000;
      lines.update(i / 50.0, i);
      none.update(i / 50.0, i);
    }
    lines.close();
    none.close();
    assertEquals(3, err.toString(UTF_8).lines().count());
  }

  private Progress progress(Progress.Mode mode) {
    return new Progress(mode, new PrintStream(err, true, UTF_8), clock, "x", "rows");
  }

  private static final class ManualClock implements Clock {
    long nanos;

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public long nanos() {
      return nanos;
    }
  }
}
