package org.stele.client.rpc;

import java.nio.channels.SelectionKey;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.stele.client.retry.AttemptException;
import org.stele.core.time.Clock;

/**
 * What the I/O thread of a connection does while it has the {@link ReadingRole}: waits, hands
 * replies out, writes what gathered meanwhile and what callers left, and ends asynchronous calls at
 * their deadline. {@link #run} and {@link #step} are for that thread alone.
 */
final class IoLoop {
  private final ReentrantLock lock;
  private final String server;
  private final Clock clock;
  private final ClientSocket socket;
  private final ReadingRole reading;
  private final ReplyReceiver receiver;
  private final FrameSender sender;
  private final ConnectionLife life;

  /** Guarded by the lock. */
  private final CallTable calls;

  IoLoop(
      ReentrantLock lock,
      String server,
      Clock clock,
      ClientSocket socket,
      CallTable calls,
      ReadingRole reading,
      ReplyReceiver receiver,
      FrameSender sender,
      ConnectionLife life) {
    this.lock = lock;
    this.server = server;
    this.clock = clock;
    this.socket = socket;
    this.calls = calls;
    this.reading = reading;
    this.receiver = receiver;
    this.sender = sender;
    this.life = life;
  }

  /** Until the connection is closed. What it throws closes the connection and fails its calls. */
  void run() {
    try {
      while (reading.awaitIoTurn()) {
        while (step()) {
          // until no call is left
        }
      }
    } catch (RuntimeException | Error e) {
      life.lost("its I/O thread failed: " + e, e);
    }
  }

  /** One wait and what follows from it. False: the role was given up, or the connection closed. */
  @SuppressWarnings("ThreadPriorityCheck") // as in FrameSender
  boolean step() {
    long wait = prepareWait();
    if (wait < 0 || !receiver.await(wait)) {
      return false;
    }
    int replies = receiver.receive(true);
    sender.writeLeft();
    if (replies > 1) {
      Thread.yield();
    }
    endExpired();
    boolean writes;
    boolean more;
    lock.lock();
    try {
      writes = sender.releaseLocked();
      more = calls.size() > 0 || sender.isLeftLocked();
      if (!more && !writes && !life.isClosedLocked()) {
        socket.awaits(SelectionKey.OP_READ); // a caller's wait must not end for writing
        reading.giveUpLocked(false);
      }
    } finally {
      lock.unlock();
    }
    if (writes) {
      sender.writeWaiting(false);
      return true;
    }
    life.closeIfRetiredAndIdle();
    return more;
  }

  /** How long to wait at most; negative: the connection is closed. */
  private long prepareWait() {
    lock.lock();
    try {
      if (life.isClosedLocked()) {
        return -1;
      }
      socket.awaits(
          sender.isLeftLocked()
              ? SelectionKey.OP_READ | SelectionKey.OP_WRITE
              : SelectionKey.OP_READ);
      return calls.nanosToAsyncEnd(clock.nanos());
    } finally {
      lock.unlock();
    }
  }

  private void endExpired() {
    List<PendingCall> expired;
    lock.lock();
    try {
      expired = calls.takeExpiredAsync(clock.nanos());
    } finally {
      lock.unlock();
    }
    for (PendingCall call : expired) {
      call.fail(AttemptException.timedOut(server, "no answer within the time of the attempt"));
    }
    if (!expired.isEmpty()) {
      life.retire();
    }
  }
}
