package org.stele.client.rpc;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import org.stele.core.data.ByteWriter;
import org.stele.core.net.Link;

/**
 * The writing side of a connection. At any moment at most one thread has the <em>writing role</em>.
 * A caller appends its frame; if nobody writes it takes the role and writes for all until nothing
 * waits, never blocking. What the socket does not take is left, with the role, to the I/O thread.
 *
 * <p>Batches are made in two ways: who writes while other calls are under way yields once before,
 * so that callers that can run add their frames; and while the I/O thread hands replies out, new
 * frames are held for it to write together.
 *
 * <p>Methods that end in {@code Locked} need the connection's lock; the others the writing role.
 */
final class FrameSender {
  /** Of the call id in a frame: behind length, magic, version, N and flags. */
  private static final int CALL_ID_OFFSET = 4 + 1 + 1 + 2 + 2;

  /** A caller that wrote so often for others leaves the rest to the I/O thread. */
  private static final int MAX_WRITES_IN_A_ROW = 32;

  private final ReentrantLock lock;
  private final Link link;
  private final ReadingRole reading;
  private final ConnectionLife life;

  /** What is waiting in it; what is being sent belongs to the writing role. */
  private final SendQueue queue = new SendQueue();

  // Guarded by the connection's lock.
  private boolean writing;

  /** The writing role, with bytes the socket did not take, is the I/O thread's. */
  private boolean left;

  /** The I/O thread hands replies out and will write afterwards. */
  private boolean held;

  FrameSender(ReentrantLock lock, Link link, ReadingRole reading, ConnectionLife life) {
    this.lock = lock;
    this.link = link;
    this.reading = reading;
    this.life = life;
  }

  boolean hasRoomLocked(int bytes) {
    return queue.hasRoom(bytes);
  }

  /** Appends a frame and sets the call id in it. */
  void appendLocked(byte[] frame, int length, long callId) {
    int at = queue.append(frame, length);
    ByteWriter.putLong(queue.gathering(), at + CALL_ID_OFFSET, callId);
  }

  /** True: the caller has the writing role now, and is to {@link #writeWaiting}. */
  boolean takeRoleLocked() {
    if (writing || held) {
      return false;
    }
    writing = true;
    return true;
  }

  /** Until {@link #releaseLocked} nobody takes the writing role. */
  void holdLocked() {
    held = true;
  }

  /** True: there are frames and the I/O thread has the writing role now. */
  boolean releaseLocked() {
    held = false;
    return queue.isWaiting() && takeRoleLocked();
  }

  /** Whether the I/O thread has to go on writing. */
  boolean isLeftLocked() {
    return left;
  }

  /** With the writing role: writes until nothing waits, or leaves the rest to the I/O thread. */
  @SuppressWarnings("ThreadPriorityCheck") // measured: nothing else makes batches
  void writeWaiting(boolean yield) {
    if (yield) {
      Thread.yield();
    }
    try {
      for (int writes = 0; takeWaiting(writes == MAX_WRITES_IN_A_ROW); writes++) {
        if (!queue.write(link)) {
          leave();
          return;
        }
      }
    } catch (IOException | RuntimeException | Error e) { // also: the I/O thread cannot start
      life.lost("writing failed: " + e, e);
    }
  }

  /** False: nothing waits, or the rest was left; the role is given up. */
  private boolean takeWaiting(boolean leave) {
    lock.lock();
    try {
      if (leave && queue.isWaiting()) {
        leaveLocked();
        return false;
      }
      writing = queue.swap();
      return writing;
    } finally {
      lock.unlock();
    }
  }

  private void leave() {
    lock.lock();
    try {
      leaveLocked();
    } finally {
      lock.unlock();
    }
  }

  private void leaveLocked() {
    left = true;
    reading.wantIoLocked();
  }

  /** On the I/O thread: writes on if it was left the writing. */
  void writeLeft() {
    if (!isLeft()) {
      return;
    }
    try {
      do {
        if (!queue.write(link)) {
          return;
        }
      } while (takeMore());
    } catch (IOException e) {
      life.lost("writing failed: " + e, e);
    }
  }

  private boolean isLeft() {
    lock.lock();
    try {
      return left;
    } finally {
      lock.unlock();
    }
  }

  private boolean takeMore() {
    lock.lock();
    try {
      left = queue.swap();
      writing = left;
      return left;
    } finally {
      lock.unlock();
    }
  }
}
