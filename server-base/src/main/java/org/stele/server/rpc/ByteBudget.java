package org.stele.server.rpc;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts bytes that many connections hold together, against a limit. It refuses nothing itself:
 * whoever holds bytes asks before it takes more. Thread-safe.
 */
final class ByteBudget {
  private final long limit;
  private final AtomicLong used = new AtomicLong();

  ByteBudget(long limit) {
    this.limit = limit;
  }

  void add(long bytes) {
    used.addAndGet(bytes);
  }

  void remove(long bytes) {
    used.addAndGet(-bytes);
  }

  long used() {
    return used.get();
  }

  boolean isOver() {
    return isOver(0);
  }

  /** Whether more than the limit and an allowance is in use. */
  boolean isOver(long allowance) {
    return used.get() > limit + allowance;
  }

  /** Whether more than seven eighths of the limit, and an allowance, is in use. */
  boolean isAlmostOver(long allowance) {
    return used.get() > limit - limit / 8 + allowance;
  }

  /** Whether three quarters would be in use with so many bytes more. */
  boolean isNearlyOver(long more) {
    return used.get() + more > limit - limit / 4;
  }
}
