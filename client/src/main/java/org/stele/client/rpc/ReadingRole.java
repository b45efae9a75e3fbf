package org.stele.client.rpc;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who reads from a connection: nobody, a caller, or the connection's I/O thread. A caller that
 * finds nobody reading takes the role and reads until its own reply is in. If calls are under way
 * when it is done, or anyone needs more than it can do (an asynchronous call, a full socket), the
 * I/O thread takes over until no call is left.
 *
 * <p>Owns the I/O thread, which is started when it is wanted first and ends with the connection.
 * Methods that end in {@code Locked} need the connection's lock.
 */
final class ReadingRole {
  private final ReentrantLock lock;
  private final ClientSocket socket;
  private final Supplier<Thread> newIoThread;
  private final Condition ioTurn;

  // Guarded by the connection's lock.
  private Holder holder = Holder.NOBODY;
  private @Nullable Thread ioThread;
  private boolean ended;

  /** The I/O thread wants the role. Written under the lock, read by the caller that reads. */
  private volatile boolean wanted;

  /**
   * @param newIoThread makes the thread, not started; it is to wait for {@link #awaitIoTurn}
   */
  ReadingRole(ReentrantLock lock, ClientSocket socket, Supplier<Thread> newIoThread) {
    this.lock = lock;
    this.socket = socket;
    this.newIoThread = newIoThread;
    this.ioTurn = lock.newCondition();
  }

  /** True: the caller has the role now. */
  boolean takeLocked() {
    if (holder != Holder.NOBODY) {
      return false;
    }
    holder = Holder.CALLER;
    return true;
  }

  /**
   * By whoever has the role; throws as {@link #wantIoLocked} does, with the role given up.
   *
   * @param more whether the I/O thread is to go on
   */
  void giveUpLocked(boolean more) {
    wanted = false;
    holder = Holder.NOBODY;
    if (more) {
      wantIoLocked();
    }
  }

  /** Whether a caller that reads should give the role up. */
  boolean isWanted() {
    return wanted;
  }

  boolean isIoLocked() {
    return holder == Holder.IO;
  }

  /**
   * Has the I/O thread take the role, or look again at what there is to do. Throws whatever the
   * start of the thread throws (there may be no memory for it): then nobody reads, and the caller
   * closes the connection.
   */
  void wantIoLocked() {
    if (ended) {
      return;
    }
    switch (holder) {
      case IO -> socket.wakeUp();
      case CALLER -> {
        wanted = true;
        socket.wakeUp();
      }
      case NOBODY -> {
        if (ioThread == null) {
          Thread thread = newIoThread.get();
          thread.start(); // waits for the lock
          ioThread = thread;
        } else {
          ioTurn.signal();
        }
        holder = Holder.IO;
      }
    }
  }

  /** On the I/O thread: waits until it has the role; false if the connection is closed. */
  boolean awaitIoTurn() {
    lock.lock();
    try {
      while (holder != Holder.IO && !ended) {
        ioTurn.awaitUninterruptibly();
      }
      return !ended;
    } finally {
      lock.unlock();
    }
  }

  /** The connection is closed. */
  void endLocked() {
    ended = true;
    ioTurn.signalAll();
  }

  private enum Holder {
    NOBODY,
    CALLER,
    IO
  }
}
