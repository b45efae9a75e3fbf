package org.stele.client.rpc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.stele.core.time.Clock;

/** The system's clock, moved forward by hand. */
class MovedClock implements Clock {
  private final AtomicLong moved = new AtomicLong();

  void move(Duration duration) {
    moved.addAndGet(duration.toNanos());
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanos() {
    return System.nanoTime() + moved.get();
  }
}
