package org.stele.client.rpc;

import java.util.concurrent.TimeUnit;
import org.stele.core.time.Clock;

/**
 * The monotonic clock of a server's run, as far as the replies on one connection tell it. Read by
 * any thread; {@link #read} is for the thread that has the connection's reading role.
 *
 * <p>The server's clock was at what a reply says before the reply came, so the difference to our
 * clock is at least that of the two readings. A reply that lay around gives too small a difference:
 * the largest one counts, less what the clocks can have drifted since.
 */
final class ServerClock {
  /** Clocks of two machines drift apart by less than 1/8192. */
  private static final int DRIFT_SHIFT = 13;

  /**
   * Of the time that a call has, this share, and no more than these nanoseconds, are for its reply.
   */
  private static final int WAY_BACK_SHARE = 8;

  private static final long WAY_BACK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Clock clock;
  private final long bootId;

  // Written by the reading role.
  private long readNanos;
  private volatile long difference;
  private volatile long lastReplyNanos;

  /**
   * @param bootId of the server's run
   * @param serverNanos in the reply that came just now
   */
  ServerClock(Clock clock, long bootId, long serverNanos) {
    this.clock = clock;
    this.bootId = bootId;
    this.readNanos = clock.nanos();
    this.lastReplyNanos = readNanos;
    this.difference = serverNanos - readNanos;
  }

  long bootId() {
    return bootId;
  }

  /**
   * A deadline on the server's clock: a little sooner than ours, so that we are still there when
   * the server says that a call was too late and not done. Else its outcome would be unknown.
   */
  long deadline(long deadlineNanos) {
    long left = Math.max(0, deadlineNanos - clock.nanos());
    return deadlineNanos - Math.min(left / WAY_BACK_SHARE, WAY_BACK_NANOS) + difference;
  }

  /** A reply came at {@code nowNanos} of our clock. */
  void read(long serverNanos, long nowNanos) {
    long seen = serverNanos - nowNanos;
    long kept = difference - (nowNanos - readNanos >> DRIFT_SHIFT);
    difference = seen - kept > 0 ? seen : kept;
    readNanos = nowNanos;
    lastReplyNanos = nowNanos;
  }

  /** Whether no reply came for so long. */
  boolean isSilentFor(long nanos) {
    return clock.nanos() - lastReplyNanos >= nanos;
  }
}
