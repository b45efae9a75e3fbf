package org.stele.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

class ConnectTest {
  private static final Duration DEADLINE = Duration.ofMillis(500);

  /** Less than a silent ZooKeeper is waited for by who ends a session in order. */
  private static final Duration GRACE = Duration.ofMillis(1500);

  @Test
  void aSilentZooKeeperIsNotWaitedForBeyondTheDeadline() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + silent.getLocalPort();
      ClientOptions options = ClientOptions.defaults().withDeadline(DEADLINE);
      tryOnce(address, options); // loads classes
      long begin = System.nanoTime();
      tryOnce(address, options);
      Duration took = Duration.ofNanos(System.nanoTime() - begin);
      assertTrue(took.compareTo(DEADLINE.plus(GRACE)) < 0, () -> "it took " + took);
    }
  }

  private static void tryOnce(String address, ClientOptions options) {
    SteleException e =
        assertThrows(SteleException.class, () -> SteleClient.connect(address, options));
    assertEquals(ErrorCode.UNAVAILABLE, e.code());
  }
}
