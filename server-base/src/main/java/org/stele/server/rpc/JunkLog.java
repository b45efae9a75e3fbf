package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.time.Clock;

/**
 * Tells the operator about peers that misbehave, at most one line a second: what happened to the
 * latest, and how many were not mentioned. Thread-safe.
 */
final class JunkLog {
  private static final Logger LOG = LoggerFactory.getLogger(JunkLog.class);
  private static final long INTERVAL_NANOS = 1_000_000_000;

  private final Clock clock;

  @GuardedBy("this")
  private long nextNanos;

  @GuardedBy("this")
  private long silenced;

  JunkLog(Clock clock) {
    this.clock = clock;
    nextNanos = clock.nanos();
  }

  void closed(InetSocketAddress peer, String reason) {
    long more = takeTurn();
    if (more >= 0) {
      LOG.warn("Closed the connection from {}: {}{}", peer, reason, silencedText(more));
    }
  }

  void failed(String what, Throwable failure) {
    long more = takeTurn();
    if (more >= 0) {
      LOG.error("{}{}", what, silencedText(more), failure);
    }
  }

  private static String silencedText(long more) {
    return more == 0 ? "" : " (" + more + " messages before this one were left out)";
  }

  /** How many were silenced before, or -1 if this one is to be silent. */
  private synchronized long takeTurn() {
    long now = clock.nanos();
    if (now - nextNanos < 0) {
      silenced++;
      return -1;
    }
    nextNanos = now + INTERVAL_NANOS;
    long more = silenced;
    silenced = 0;
    return more;
  }
}
