package org.stele.client.rpc;

import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.stele.client.retry.AttemptException;

/**
 * A connection's way to its end:
 *
 * <pre>
 *   OPEN ──► RETIRED (no new calls; a call ran out of time, or none is there) ──► CLOSED (socket closed, all calls failed)
 *      └────────────────────────────────────────────────────────────┘
 * </pre>
 *
 * Thread-safe; methods that end in {@code Locked} need the connection's lock, the others are called
 * without it.
 */
final class ConnectionLife {
  private final ReentrantLock lock;
  private final String server;
  private final ClientSocket socket;
  private final CallTable calls;
  private final ReadingRole reading;

  // Guarded by the connection's lock.
  private State state = State.OPEN;

  private volatile boolean open = true;

  ConnectionLife(
      ReentrantLock lock,
      String server,
      ClientSocket socket,
      CallTable calls,
      ReadingRole reading) {
    this.lock = lock;
    this.server = server;
    this.socket = socket;
    this.calls = calls;
    this.reading = reading;
  }

  /** Whether new calls are taken. */
  boolean isOpen() {
    return open;
  }

  boolean isOpenLocked() {
    return state == State.OPEN;
  }

  boolean isClosed() {
    lock.lock();
    try {
      return isClosedLocked();
    } finally {
      lock.unlock();
    }
  }

  boolean isClosedLocked() {
    return state == State.CLOSED;
  }

  /** No new calls; closed when no call is under way. */
  void retire() {
    lock.lock();
    try {
      retireLocked();
    } finally {
      lock.unlock();
    }
    closeIfRetiredAndIdle();
  }

  private void retireLocked() {
    if (state == State.OPEN) {
      state = State.RETIRED;
      open = false;
    }
  }

  /**
   * Closes it unless a call is under way; one that comes later finds it closed and is not sent.
   *
   * @return whether it is closed
   */
  boolean closeIfNoCall() {
    lock.lock();
    try {
      if (calls.size() > 0) {
        return false;
      }
      retireLocked();
    } finally {
      lock.unlock();
    }
    closeIfRetiredAndIdle();
    return true;
  }

  /** To be called when a call is no longer under way. */
  void closeIfRetiredAndIdle() {
    if (open) {
      return;
    }
    boolean idle;
    lock.lock();
    try {
      idle = state == State.RETIRED && calls.size() == 0;
    } finally {
      lock.unlock();
    }
    if (idle) { // and stays idle: no call is added once it is retired
      close(AttemptException.notSent(server, "the connection was retired", null));
    }
  }

  /** Closes it because it broke. */
  void lost(String what, Throwable cause) {
    close(AttemptException.lost(server, what, cause));
  }

  /** Fails all calls under way. Idempotent. */
  void close(AttemptException reason) {
    List<PendingCall> failed;
    lock.lock();
    try {
      if (state == State.CLOSED) {
        return;
      }
      state = State.CLOSED;
      open = false;
      failed = calls.takeAll();
      reading.endLocked();
    } finally {
      lock.unlock();
    }
    try {
      socket.close();
    } finally {
      failed.forEach(call -> call.fail(reason));
    }
  }

  private enum State {
    OPEN,
    RETIRED,
    CLOSED
  }
}
