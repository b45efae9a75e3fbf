package org.stele.tserver.tablet;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the writes of a tablet that are placed in the log and not yet settled, and knows whether
 * more may come. Closed at first. Thread-safe, never blocks.
 */
final class PlacedWrites {
  private static final long CLOSED = 1L << 62;

  /** The writes under way, and {@link #CLOSED}. */
  private final AtomicLong state = new AtomicLong(CLOSED);

  private final CompletableFuture<Void> drained = new CompletableFuture<>();

  void open() {
    state.set(0);
  }

  boolean isOpen() {
    return state.get() < CLOSED;
  }

  /** One more; false: no more are taken. Not before {@link #open}. */
  boolean enter() {
    if (state.incrementAndGet() < CLOSED) {
      return true;
    }
    leave();
    return false;
  }

  void leave() {
    if (state.decrementAndGet() == CLOSED) {
      drained.complete(null);
    }
  }

  /** Takes no more; done when none is under way. Idempotent. */
  CompletableFuture<Void> close() {
    long before = state.getAndUpdate(count -> count | CLOSED);
    if ((before & ~CLOSED) == 0) {
      drained.complete(null);
    }
    return drained;
  }
}
