package org.stele.tserver.write;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * Slows writes down as what they use up gets scarce: smoothly, so that writers come down to the
 * rate at which it is given back before there is none left.
 *
 * <p>Each write that passes leaves its bytes as a debt, which is worked off at a rate of {@code
 * halfway * (1 - scarcity) / scarcity}; the next may pass when there is no debt. So nothing is
 * slowed at scarcity 0, nothing passes at 1, and in between the scarcity settles where the rate is
 * that of the flushes or compactions. The rate is always that of now: when a flush ends, those who
 * wait go on at once.
 *
 * <p>Thread-safe, never blocks.
 */
public final class Pace {
  /** Nothing is slowed down, ever. */
  public static final Pace FREE = new Pace(Long.MAX_VALUE, () -> 0);

  /** Writes may come together as if they had come apart by this time. */
  private static final long CREDIT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final double bytesPerNano;
  private final DoubleSupplier scarcity;

  /** Not yet worked off; negative: that many bytes may pass ahead of their time. */
  @GuardedBy("this")
  private double debtBytes;

  @GuardedBy("this")
  private long settledNanos;

  /**
   * @param halfwayBytesPerSecond the rate at a scarcity of one half
   * @param scarcity now: from 0 (or less), there is enough, to 1 (or more), there is none left
   */
  public Pace(long halfwayBytesPerSecond, DoubleSupplier scarcity) {
    this.bytesPerNano = (double) halfwayBytesPerSecond / TimeUnit.SECONDS.toNanos(1);
    this.scarcity = scarcity;
  }

  /** Whether the next write may pass. */
  boolean isOpen(long nowNanos) {
    double now = scarcity.getAsDouble();
    if (now <= 0) {
      return true;
    }
    if (now >= 1) {
      return false;
    }
    synchronized (this) {
      double rate = bytesPerNano * (1 - now) / now;
      double workedOff = rate * Math.max(0, nowNanos - settledNanos);
      debtBytes = Math.max(debtBytes - workedOff, -rate * CREDIT_NANOS);
      settledNanos = nowNanos;
      return debtBytes <= 0;
    }
  }

  /** A write has passed. */
  void passed(long bytes, long nowNanos) {
    if (scarcity.getAsDouble() > 0) {
      synchronized (this) {
        debtBytes += bytes;
        settledNanos = Math.max(settledNanos, nowNanos);
      }
    }
  }

  /** Whether writes are slowed down now. */
  boolean isSlow() {
    return scarcity.getAsDouble() > 0;
  }
}
