package org.stele.core.coordination;

import java.time.Duration;

/**
 * How to reach ZooKeeper.
 *
 * @param sessionTimeout wanted; the servers may give another within their bounds
 * @param connectTimeout for one attempt to reach one server
 */
public record CoordinationOptions(
    ConnectString connect, Duration sessionTimeout, Duration connectTimeout) {
  public CoordinationOptions {
    requirePositive("session timeout", sessionTimeout);
    requirePositive("connect timeout", connectTimeout);
  }

  private static void requirePositive(String what, Duration duration) {
    if (duration.toMillis() <= 0 || duration.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          what + " " + duration + " is not between 1 ms and " + Integer.MAX_VALUE + " ms");
    }
  }
}
