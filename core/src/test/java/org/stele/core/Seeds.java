package org.stele.core;

import java.util.Random;

/**
 * Runs a randomized check for several seeds; a failure names its seed, and {@code -Dstele.seed=N}
 * runs that one alone. {@code -Dstele.long=true} runs many more.
 */
public final class Seeds {
  private static final int LONG_FACTOR = 50;

  private Seeds() {}

  /** A check that draws all its randomness from what it is given. */
  @FunctionalInterface
  public interface Check {
    void run(Random random) throws Exception;
  }

  /** Whether tests run in their long form. */
  public static boolean isLong() {
    return Boolean.getBoolean("stele.long");
  }

  /** Runs the check for {@code count} seeds, or fifty times as many in the long form. */
  public static void run(int count, Check check) {
    Long only = Long.getLong("stele.seed");
    if (only != null) {
      run(only, check);
      return;
    }
    int seeds = isLong() ? count * LONG_FACTOR : count;
    for (int seed = 0; seed < seeds; seed++) {
      run((long) seed, check);
    }
  }

  private static void run(long seed, Check check) {
    try {
      // Neighbouring seeds of Random begin alike: spread them.
      check.run(new Random(seed * 0x9E3779B97F4A7C15L));
    } catch (Exception | AssertionError e) {
      throw new AssertionError("seed " + seed + ": " + e, e);
    }
  }
}
