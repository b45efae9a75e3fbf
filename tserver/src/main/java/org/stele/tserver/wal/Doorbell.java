package org.stele.tserver.wal;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the one thread that waits at it. Ringing never blocks, and costs a read if nobody waits: so
 * only the first of many arrivals pays for the wake-up.
 */
final class Doorbell {
  private final AtomicReference<@Nullable Thread> sleeper = new AtomicReference<>();

  /** To be called after what there is to do was made visible. */
  void ring() {
    Thread thread = sleeper.get();
    if (thread != null && sleeper.compareAndSet(thread, null)) {
      LockSupport.unpark(thread);
    }
  }

  /** Waits until it is rung, unless there is something to do. May also return for no reason. */
  void await(BooleanSupplier somethingToDo) {
    sleeper.set(Thread.currentThread());
    if (!somethingToDo.getAsBoolean()) {
      LockSupport.park(this);
    }
    sleeper.set(null);
  }
}
