package org.stele.client.retry;

import java.time.Duration;

/**
 * How attempts follow each other.
 *
 * @param base the shortest wait between two attempts
 * @param cap the wait grows to this, and a quarter more by chance
 * @param budgetShare retries allowed per first attempt, over time: 0.2 is one in five
 * @param budgetFloorPerSecond retries allowed per second whatever the traffic
 * @param budgetBurst retries that can be saved up
 */
public record RetryOptions(
    Duration base, Duration cap, double budgetShare, double budgetFloorPerSecond, int budgetBurst) {
  public RetryOptions {
    if (base.toNanos() <= 0 || cap.compareTo(base) < 0 || cap.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException(
          "waits from " + base + " to " + cap + ": 0 < base <= cap <= 1 h is possible");
    }
    if (!(budgetShare >= 0 && budgetShare <= 10)
        || !(budgetFloorPerSecond >= 0 && budgetFloorPerSecond <= 1e6)
        || budgetBurst < 1) {
      throw new IllegalArgumentException(
          "a retry budget of "
              + budgetShare
              + " of the traffic, "
              + budgetFloorPerSecond
              + " per second, at most "
              + budgetBurst
              + " is not possible");
    }
  }

  /**
   * From 20 ms to 2 s; one retry per five first attempts, at least 10 per second, 2000 saved up.
   */
  public static RetryOptions defaults() {
    return new RetryOptions(Duration.ofMillis(20), Duration.ofSeconds(2), 0.2, 10, 2000);
  }

  public RetryOptions withWaits(Duration newBase, Duration newCap) {
    return new RetryOptions(newBase, newCap, budgetShare, budgetFloorPerSecond, budgetBurst);
  }

  public RetryOptions withBudget(double share, double floorPerSecond, int burst) {
    return new RetryOptions(base, cap, share, floorPerSecond, burst);
  }
}
