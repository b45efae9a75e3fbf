package org.stele.client.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.channels.SelectionKey;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.stele.client.retry.AttemptException;
import org.stele.core.time.Clock;
import org.stele.core.wire.ReplyHeader;

/**
 * One socket to a server that any number of callers share. Replies come in any order and find their
 * call by its id and nothing else.
 *
 * <p><b>Two roles.</b> At any moment at most one thread reads ({@link ReadingRole}) and at most one
 * writes ({@link FrameSender}); who that is changes only under the lock, and with the role goes the
 * ownership of what belongs to it. A lone caller has both: it writes its frame and reads its reply
 * itself, and no other thread is needed. Among many callers one writes for all, and the I/O thread
 * ({@link IoLoop}) reads.
 *
 * <p>A caller waits for its reply with its own deadline, whoever reads. A call that runs out of
 * time <em>retires</em> the connection: no new calls, and it is closed when the others are done
 * ({@link ConnectionLife}). Anything that breaks the protocol closes the connection and fails all
 * its calls ({@link ReplyReceiver}). An interrupt ends one call and nothing else.
 *
 * <p>Thread-safe.
 */
final class Connection {
  /** After so long without a reply the socket is looked at before it is used. */
  private static final long PROBE_AFTER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String server;
  private final Clock clock;
  private final ServerClock serverClock;
  private final int maxFrameBytes;

  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final CallTable calls;

  private final ReadingRole reading;
  private final ConnectionLife life;
  private final FrameSender sender;
  private final ReplyReceiver receiver;
  private final IoLoop ioLoop;

  /**
   * Takes over a socket whose first exchange is done: see {@link Connector}.
   *
   * @param number of the connection among those of the client
   * @param ioThreads makes the I/O thread, if one is needed
   * @param reader has read the server's greeting and nothing else
   * @param greeting of the server
   */
  Connection(
      String server,
      int number,
      Clock clock,
      ThreadFactory ioThreads,
      ClientSocket socket,
      ReplyReader reader,
      ReplyHeader greeting) {
    this.server = server;
    this.clock = clock;
    this.calls = new CallTable(number);
    this.serverClock = new ServerClock(clock, greeting.bootId(), greeting.serverNanos());
    this.maxFrameBytes =
        greeting.frameMaxBytes() > 0 ? greeting.frameMaxBytes() : Integer.MAX_VALUE;
    this.reading = new ReadingRole(lock, socket, () -> ioThreads.newThread(this::runIo));
    this.life = new ConnectionLife(lock, server, socket, calls, reading);
    this.sender = new FrameSender(lock, socket.link(), reading, life);
    this.receiver =
        new ReplyReceiver(lock, socket, reader, clock, serverClock, calls, sender, life);
    this.ioLoop = new IoLoop(lock, server, clock, socket, calls, reading, receiver, sender, life);
    socket.awaits(SelectionKey.OP_READ);
  }

  private void runIo() {
    ioLoop.run();
  }

  /** Whether it takes new calls. */
  boolean isOpen() {
    return life.isOpen();
  }

  /** The clock that deadlines on this connection are on. */
  ServerClock serverClock() {
    return serverClock;
  }

  /** The largest frame that the server takes. */
  int maxFrameBytes() {
    return maxFrameBytes;
  }

  /**
   * If nothing came for a while, looks whether the server closed the connection meanwhile, so that
   * no call is wasted on it.
   */
  void probeIfIdle() {
    if (!serverClock.isSilentFor(PROBE_AFTER_NANOS)) {
      return;
    }
    lock.lock();
    try {
      if (!life.isOpenLocked() || !reading.takeLocked()) {
        return;
      }
    } finally {
      lock.unlock();
    }
    try {
      receiver.receive(false);
    } finally {
      stopReading();
    }
  }

  /** Whether it has no call, and had no reply for so long. */
  boolean isUnusedFor(long nanos) {
    if (!serverClock.isSilentFor(nanos)) {
      return false;
    }
    lock.lock();
    try {
      return calls.size() == 0;
    } finally {
      lock.unlock();
    }
  }

  /** Closes it, unless a call is under way; returns whether it is closed. */
  boolean closeIfNoCall() {
    return life.closeIfNoCall();
  }

  /** Whether its calls are done and its socket closed. */
  boolean isClosed() {
    return life.isClosed();
  }

  /** Fails all calls under way. Idempotent; any thread. */
  void close(AttemptException reason) {
    life.close(reason);
  }

  // ---- Calls

  /**
   * Sends a frame and waits for its reply.
   *
   * @param frame length and header first; the call id in it is set here
   * @return the reply frame, without its length
   * @throws AttemptException if there is none in time
   * @throws InterruptedException if the thread was interrupted; the call goes on at the server
   */
  byte[] call(byte[] frame, int length, long deadlineNanos) throws InterruptedException {
    PendingCall call = PendingCall.waiting(deadlineNanos);
    boolean writes;
    boolean reads;
    boolean others;
    lock.lock();
    try {
      requireRoomLocked(length);
      calls.add(call);
      appendLocked(call, frame, length);
      writes = sender.takeRoleLocked();
      reads = reading.takeLocked();
      others = calls.size() > 1;
    } finally {
      lock.unlock();
    }
    if (writes) {
      sender.writeWaiting(others);
    }
    if (reads) {
      readUntilDone(call);
    }
    return awaitReply(call);
  }

  /**
   * Sends a frame; the listener hears of the reply or the failure, from a thread of the client or,
   * if the call cannot begin, before this returns. Throws nothing.
   *
   * @return false: the connection takes no calls any more, and the listener hears nothing
   */
  boolean callAsync(byte[] frame, int length, long deadlineNanos, PendingCall.Listener listener) {
    PendingCall call = PendingCall.listening(listener, deadlineNanos);
    boolean begun = false;
    boolean writes = false;
    boolean others = false;
    try {
      lock.lock();
      try {
        if (!life.isOpenLocked()) {
          return false;
        }
        requireRoomLocked(length);
        boolean soonest = calls.addAsync(call);
        appendLocked(call, frame, length);
        begun = true;
        if (soonest || !reading.isIoLocked()) {
          reading.wantIoLocked();
        }
        writes = sender.takeRoleLocked();
        others = calls.size() > 1;
      } finally {
        lock.unlock();
      }
    } catch (AttemptException e) {
      call.fail(e);
    } catch (RuntimeException | Error e) {
      if (begun) { // nobody would read
        life.lost("its I/O thread cannot start: " + e, e);
      } else {
        call.fail(AttemptException.failedHere(server, e, false));
      }
    }
    if (writes) {
      sender.writeWaiting(others);
    }
    return true;
  }

  /** Appends the frame of a call that was added, or takes the call out. */
  @GuardedBy("lock")
  private void appendLocked(PendingCall call, byte[] frame, int length) {
    boolean appended = false;
    try {
      sender.appendLocked(frame, length, call.id);
      appended = true;
    } finally {
      if (!appended) {
        calls.take(call.id);
      }
    }
  }

  @GuardedBy("lock")
  private void requireRoomLocked(int length) {
    if (!life.isOpenLocked()) {
      throw AttemptException.notSent(server, "the connection was closed before the call", null);
    }
    if (calls.isFull() || !sender.hasRoomLocked(length)) {
      throw AttemptException.busyHere(
          server,
          "too much waits for this server: "
              + calls.size()
              + " calls (most "
              + CallTable.MAX_CALLS
              + "), bytes up to "
              + SendQueue.MAX_BYTES);
    }
  }

  /** With the reading role, which is given up at the end. */
  private void readUntilDone(PendingCall call) {
    try {
      while (!call.isDone() && !reading.isWanted() && !Thread.currentThread().isInterrupted()) {
        long left = call.deadlineNanos - clock.nanos();
        if (left <= 0 || !receiver.await(left)) {
          break;
        }
        receiver.receive(false);
      }
    } finally {
      stopReading();
    }
  }

  private void stopReading() {
    try {
      lock.lock();
      try {
        reading.giveUpLocked(calls.size() > 0 || sender.isLeftLocked());
      } finally {
        lock.unlock();
      }
    } catch (RuntimeException | Error e) { // nobody would read
      life.lost("its I/O thread cannot start: " + e, e);
    }
    life.closeIfRetiredAndIdle();
  }

  /** Without a role: waits until whoever reads has the reply. */
  private byte[] awaitReply(PendingCall call) throws InterruptedException {
    while (!call.isDone()) {
      if (Thread.interrupted()) {
        if (abandon(call)) {
          throw new InterruptedException("interrupted waiting for " + server);
        }
        Thread.currentThread().interrupt();
        break;
      }
      long left = call.deadlineNanos - clock.nanos();
      if (left > 0) {
        LockSupport.parkNanos(this, left);
      } else if (abandon(call)) {
        life.retire();
        throw AttemptException.timedOut(server, "no answer within the time of the attempt");
      }
    }
    return call.result();
  }

  /** Takes a call out, so that its reply will be dropped. False: it has its outcome. */
  private boolean abandon(PendingCall call) {
    boolean taken;
    lock.lock();
    try {
      taken = calls.take(call.id) != null;
    } finally {
      lock.unlock();
    }
    if (taken) {
      life.closeIfRetiredAndIdle();
      return true;
    }
    boolean interrupted = false;
    while (!call.isDone()) {
      LockSupport.park(this); // whoever took it hands it out, after others perhaps
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return false;
  }
}
