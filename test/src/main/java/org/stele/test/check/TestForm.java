package org.stele.test.check;

import java.time.Duration;

/** In which form tests run: short in every build, long with {@code -Plong}. */
public final class TestForm {
  public static final boolean LONG = Boolean.getBoolean("stele.long");

  /** What a machine that does other things as well may take longer than an idle one. */
  private static final int PATIENCE = 5;

  private TestForm() {}

  public static int count(int inShort, int inLong) {
    return LONG ? inLong : inShort;
  }

  public static Duration time(Duration inShort, Duration inLong) {
    return LONG ? inLong : inShort;
  }

  /** How long to wait for what takes at most {@code limit} on an idle machine. */
  public static Duration generous(Duration limit) {
    return limit.multipliedBy(PATIENCE);
  }
}
