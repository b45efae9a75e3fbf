package org.stele.client.rpc;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;

/**
 * A call that is under way on a connection. It gets exactly one outcome, from whoever took it out
 * of the connection's table: a reply frame or a failure.
 */
final class PendingCall {
  /** Null: an asynchronous call, with a listener. */
  private final @Nullable Thread waiter;

  private final @Nullable Listener listener;
  final long deadlineNanos;

  /** Guarded by the lock of the connection. */
  long id;

  private volatile @Nullable Object outcome;

  private PendingCall(@Nullable Thread waiter, @Nullable Listener listener, long deadlineNanos) {
    this.waiter = waiter;
    this.listener = listener;
    this.deadlineNanos = deadlineNanos;
  }

  /** A call whose caller, the current thread, waits. */
  static PendingCall waiting(long deadlineNanos) {
    return new PendingCall(Thread.currentThread(), null, deadlineNanos);
  }

  static PendingCall listening(Listener listener, long deadlineNanos) {
    return new PendingCall(null, listener, deadlineNanos);
  }

  boolean isAsync() {
    return listener != null;
  }

  boolean isDone() {
    return outcome != null;
  }

  /** Called once, without the connection's lock. */
  void reply(byte[] frame) {
    end(frame);
  }

  /** Called once, without the connection's lock. */
  void fail(AttemptException failure) {
    end(failure);
  }

  /** Whatever happens, the calls behind this one get their outcome too. */
  private void end(Object result) {
    if (listener != null) {
      tell(listener, result);
      return;
    }
    outcome = result;
    if (waiter != Thread.currentThread()) {
      LockSupport.unpark(waiter);
    }
  }

  private static void tell(Listener listener, Object result) {
    try {
      if (result instanceof byte[] frame) {
        listener.replied(frame);
      } else {
        listener.failed((AttemptException) result);
      }
    } catch (RuntimeException | Error e) { // other calls wait for this thread
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  /** The reply frame of a call that is done; throws its failure. */
  byte[] result() {
    Object result = outcome;
    if (result instanceof byte[] frame) {
      return frame;
    }
    if (result instanceof AttemptException failure) {
      throw failure;
    }
    throw new IllegalStateException("the call is not done");
  }

  /**
   * Hears of the end of an asynchronous call, on a thread that serves other calls too: must not
   * block. What it throws is reported as uncaught and otherwise without effect.
   */
  interface Listener {
    void replied(byte[] frame);

    void failed(AttemptException failure);
  }
}
