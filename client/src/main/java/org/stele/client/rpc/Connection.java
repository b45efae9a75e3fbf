package org.stele.client.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.net.Link;
import org.stele.core.time.Clock;
import org.stele.core.wire.ReplyHeader;

/**
 * One socket to a server that any number of callers share. Replies come in any order and find their
 * call by its id and nothing else.
 *
 * <p><b>Two roles.</b> At any moment at most one thread reads and at most one writes; who that is
 * changes only under the lock, and with the role goes the ownership of what belongs to it.
 *
 * <ul>
 *   <li><i>Writing.</i> A caller appends its frame; if nobody writes it takes the role and writes
 *       for all until nothing waits, never blocking: what the socket does not take is left, with
 *       the role, to the I/O thread. If other calls are under way it yields once before, so that
 *       callers that can run add their frames.
 *   <li><i>Reading.</i> A caller that finds nobody reading takes the role, and reads until its own
 *       reply is in: a lone caller needs no other thread. If calls are under way when it is done,
 *       or anyone needs more than it can do (an asynchronous call, a full socket), the I/O thread
 *       takes over until no call is left. While the I/O thread hands replies out, new frames are
 *       left for it to write together.
 * </ul>
 *
 * <p>A caller waits for its reply with its own deadline, whoever reads. A call that runs out of
 * time <em>retires</em> the connection: no new calls, and it is closed when the others are done. A
 * late reply finds no call and is dropped. Anything that breaks the protocol closes the connection
 * and fails all its calls. An interrupt ends one call and nothing else: all channel operations are
 * non-blocking, so that it cannot close the channel.
 *
 * <p>The I/O thread is started when it is needed first, and ends with the connection.
 */
final class Connection {
  /** Of the call id in a frame: behind length, magic, version, N and flags. */
  private static final int CALL_ID_OFFSET = 4 + 1 + 1 + 2 + 2;

  /** A caller that wrote so often for others leaves the rest to the I/O thread. */
  private static final int MAX_WRITES_IN_A_ROW = 32;

  /** After so long without a reply the socket is looked at before it is used. */
  private static final long PROBE_AFTER_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Clocks of two machines drift apart by less than 1/8192. */
  private static final int DRIFT_SHIFT = 13;

  /**
   * Of the time that a call has, this share, and no more than these nanoseconds, are for its reply.
   */
  private static final int WAY_BACK_SHARE = 8;

  private static final long WAY_BACK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final String server;
  private final Clock clock;
  private final ThreadFactory ioThreads;
  private final Link link;
  private final Selector selector;
  private final SelectionKey key;
  private final long bootId;
  private final int maxFrameBytes;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ioWanted = lock.newCondition();

  @GuardedBy("lock")
  private State state = State.OPEN;

  @GuardedBy("lock")
  private final CallTable calls = new CallTable();

  /** What is waiting in it; what is being sent belongs to the writing role. */
  private final SendQueue queue = new SendQueue();

  @GuardedBy("lock")
  private boolean writing;

  /** The writing role, with bytes the socket did not take, is the I/O thread's. */
  @GuardedBy("lock")
  private boolean ioWrites;

  @GuardedBy("lock")
  private Reader reader = Reader.NOBODY;

  /** The I/O thread hands replies out and will write afterwards. */
  @GuardedBy("lock")
  private boolean dispatching;

  @GuardedBy("lock")
  private @Nullable Thread ioThread;

  @GuardedBy("lock")
  private @Nullable AttemptException closeReason;

  /** The I/O thread wants the reading role. Written under the lock, read by the reading caller. */
  private volatile boolean takeOver;

  /** The earliest end of an asynchronous call, or earlier; only the I/O thread acts on it. */
  @GuardedBy("lock")
  private long asyncDeadlineNanos;

  @GuardedBy("lock")
  private boolean hasAsyncDeadline;

  private volatile boolean open = true;

  // Owned by the reading role.
  private final ReplyReader replies;
  private final ReplyHeader header = new ReplyHeader();
  private long clockReadNanos;

  /** Server's clock minus ours, at most. Written by the reading role. */
  private volatile long clockDifference;

  /** Of the last reply. Written by the reading role. */
  private volatile long lastReplyNanos;

  private Connection(
      String server,
      Clock clock,
      ThreadFactory ioThreads,
      Link link,
      Selector selector,
      SelectionKey key,
      ReplyReader replies,
      ReplyHeader hello,
      int maxFrameBytes) {
    this.server = server;
    this.clock = clock;
    this.ioThreads = ioThreads;
    this.link = link;
    this.selector = selector;
    this.key = key;
    this.replies = replies;
    this.bootId = hello.bootId();
    this.maxFrameBytes = maxFrameBytes;
    this.clockReadNanos = clock.nanos();
    this.lastReplyNanos = clockReadNanos;
    this.clockDifference = hello.serverNanos() - clockReadNanos;
  }

  /** Takes over a link whose first exchange is done: see {@link Connector}. */
  static Connection established(
      String server,
      Clock clock,
      ThreadFactory ioThreads,
      Link link,
      Selector selector,
      SelectionKey key,
      ReplyReader replies,
      ReplyHeader hello) {
    key.interestOps(SelectionKey.OP_READ);
    return new Connection(
        server,
        clock,
        ioThreads,
        link,
        selector,
        key,
        replies,
        hello,
        hello.frameMaxBytes() > 0 ? hello.frameMaxBytes() : Integer.MAX_VALUE);
  }

  /** Whether it takes new calls. */
  boolean isOpen() {
    return open;
  }

  long bootId() {
    return bootId;
  }

  /** The largest frame that the server takes. */
  int maxFrameBytes() {
    return maxFrameBytes;
  }

  /**
   * A deadline on the server's clock: a little sooner than ours, so that we are still there when
   * the server says that a call was too late and not done. Else its outcome would be unknown.
   */
  long serverDeadlineNanos(long deadlineNanos) {
    long left = Math.max(0, deadlineNanos - clock.nanos());
    return deadlineNanos - Math.min(left / WAY_BACK_SHARE, WAY_BACK_NANOS) + clockDifference;
  }

  /**
   * If nothing came for a while, looks whether the server closed the connection meanwhile, so that
   * no call is wasted on it.
   */
  void probeIfIdle() {
    if (clock.nanos() - lastReplyNanos < PROBE_AFTER_NANOS) {
      return;
    }
    lock.lock();
    try {
      if (state != State.OPEN || reader != Reader.NOBODY) {
        return;
      }
      reader = Reader.CALLER;
    } finally {
      lock.unlock();
    }
    readOnce(new ArrayList<>());
    releaseReading();
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
      enqueueLocked(call, frame, length);
      writes = takeWritingLocked();
      reads = reader == Reader.NOBODY;
      if (reads) {
        reader = Reader.CALLER;
      }
      others = calls.size() > 1;
    } finally {
      lock.unlock();
    }
    if (writes) {
      writeWaiting(others);
    }
    return reads ? readUntilDone(call) : awaitReply(call);
  }

  /**
   * Sends a frame; the listener hears of the reply or the failure, from a thread of the client or,
   * if the connection is closed already, before this returns.
   */
  void callAsync(byte[] frame, int length, long deadlineNanos, PendingCall.Listener listener) {
    boolean others;
    try {
      others = enqueueAsync(PendingCall.listening(listener, deadlineNanos), frame, length);
    } catch (AttemptException e) {
      listener.failed(e);
      return;
    }
    lock.lock();
    try {
      if (!takeWritingLocked()) {
        return;
      }
    } finally {
      lock.unlock();
    }
    writeWaiting(others);
  }

  /** Whether other calls are under way. */
  private boolean enqueueAsync(PendingCall call, byte[] frame, int length) {
    lock.lock();
    try {
      enqueueLocked(call, frame, length);
      boolean sooner = !hasAsyncDeadline || call.deadlineNanos - asyncDeadlineNanos < 0;
      if (sooner) {
        hasAsyncDeadline = true;
        asyncDeadlineNanos = call.deadlineNanos;
      }
      if (sooner || reader != Reader.IO) {
        wantIoLocked();
      }
      return calls.size() > 1;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void enqueueLocked(PendingCall call, byte[] frame, int length) {
    if (state != State.OPEN) {
      throw AttemptException.notSent(server, "the connection was closed before the call", null);
    }
    if (calls.isFull() || !queue.hasRoom(length)) {
      throw AttemptException.busyHere(
          server,
          "too much waits for this server: "
              + calls.size()
              + " calls (most "
              + CallTable.MAX_CALLS
              + "), bytes up to "
              + SendQueue.MAX_BYTES);
    }
    calls.add(call);
    int at = queue.append(frame, length);
    ByteWriter.putLong(queue.gathering(), at + CALL_ID_OFFSET, call.id);
  }

  @GuardedBy("lock")
  private boolean takeWritingLocked() {
    if (writing || dispatching) {
      return false;
    }
    writing = true;
    return true;
  }

  // ---- Writing

  /** With the writing role: writes until nothing waits, or leaves the rest to the I/O thread. */
  @SuppressWarnings("ThreadPriorityCheck") // measured: nothing else makes batches
  private void writeWaiting(boolean yield) {
    if (yield) {
      Thread.yield();
    }
    try {
      for (int i = 0; ; i++) {
        lock.lock();
        try {
          if (i == MAX_WRITES_IN_A_ROW && queue.isWaiting()) {
            leaveWritingToIoLocked();
            return;
          }
          if (!queue.swap()) {
            writing = false;
            return;
          }
        } finally {
          lock.unlock();
        }
        if (!queue.write(link)) {
          lock.lock();
          try {
            leaveWritingToIoLocked();
          } finally {
            lock.unlock();
          }
          return;
        }
      }
    } catch (IOException e) {
      close(AttemptException.lost(server, "writing failed: " + e, e));
    }
  }

  @GuardedBy("lock")
  private void leaveWritingToIoLocked() {
    ioWrites = true;
    wantIoLocked();
  }

  /** On the I/O thread with the reading role: writes on if it was left the writing. */
  private void writeLeft() {
    boolean mine;
    lock.lock();
    try {
      mine = ioWrites;
    } finally {
      lock.unlock();
    }
    if (!mine) {
      return;
    }
    try {
      while (queue.write(link)) {
        lock.lock();
        try {
          if (!queue.swap()) {
            ioWrites = false;
            writing = false;
            return;
          }
        } finally {
          lock.unlock();
        }
      }
    } catch (IOException e) {
      close(AttemptException.lost(server, "writing failed: " + e, e));
    }
  }

  // ---- Reading and waiting by callers

  /** With the reading role, which is given up at the end. */
  private byte[] readUntilDone(PendingCall call) throws InterruptedException {
    List<byte[]> frames = new ArrayList<>(2);
    try {
      while (!call.isDone() && !takeOver && !Thread.currentThread().isInterrupted()) {
        long left = call.deadlineNanos - clock.nanos();
        if (left <= 0 || !select(left)) {
          break;
        }
        readOnce(frames);
      }
    } finally {
      releaseReading();
    }
    return awaitReply(call);
  }

  /** Without a role: waits until whoever reads has the reply. */
  private byte[] awaitReply(PendingCall call) throws InterruptedException {
    while (!call.isDone()) {
      if (Thread.interrupted()) {
        if (abandon(call)) {
          throw new InterruptedException("interrupted waiting for " + server);
        }
        Thread.currentThread().interrupt();
        return call.result();
      }
      long left = call.deadlineNanos - clock.nanos();
      if (left > 0) {
        LockSupport.parkNanos(this, left);
      } else if (abandon(call)) {
        retire();
        throw AttemptException.timedOut(server, "no answer within the time of the attempt");
      }
    }
    return call.result();
  }

  /**
   * Takes a call out, so that its reply will be dropped. False if its outcome is there, or near.
   */
  private boolean abandon(PendingCall call) {
    boolean taken;
    lock.lock();
    try {
      taken = calls.take(call.id) != null;
    } finally {
      lock.unlock();
    }
    if (taken) {
      closeIfRetiredAndIdle();
      return true;
    }
    while (!call.isDone()) {
      Thread.onSpinWait(); // whoever took it is about to set the outcome
    }
    return false;
  }

  private void releaseReading() {
    lock.lock();
    try {
      takeOver = false;
      reader = Reader.NOBODY;
      if (calls.size() > 0 || ioWrites) {
        wantIoLocked();
      }
    } finally {
      lock.unlock();
    }
    closeIfRetiredAndIdle();
  }

  // ---- Reading by whoever has the role

  /** Waits for bytes, at most so long; false if the connection is closed. */
  private boolean select(long nanos) {
    try {
      long millis = nanos == Long.MAX_VALUE ? 0 : Math.max(1, nanos / 1_000_000);
      selector.select(selected -> {}, millis);
      return true;
    } catch (ClosedSelectorException e) {
      return false;
    } catch (IOException e) {
      close(AttemptException.lost(server, "waiting failed: " + e, e));
      return false;
    }
  }

  /** Reads what is there, without waiting, and hands the replies out. */
  private int readOnce(List<byte[]> frames) {
    frames.clear();
    try {
      replies.read(link, frames);
      if (!frames.isEmpty()) {
        handOut(frames);
      }
    } catch (IOException | MalformedBytesException e) {
      close(AttemptException.lost(server, "the connection broke: " + e, e));
    } catch (RuntimeException | Error e) {
      close(AttemptException.lost(server, "reading failed: " + e, e));
      throw e;
    }
    return frames.size();
  }

  private void handOut(List<byte[]> frames) throws IOException {
    int count = frames.size();
    @Nullable PendingCall[] answered = new @Nullable PendingCall[count];
    long now = clock.nanos();
    lock.lock();
    try {
      for (int i = 0; i < count; i++) {
        byte[] frame = frames.get(i);
        header.decode(frame, 0, frame.length);
        if (header.bootId() != bootId) {
          throw new IOException("the server's boot id changed on one connection");
        }
        if (!calls.wasGiven(header.callId())) {
          throw new IOException(
              "an answer to call " + Long.toHexString(header.callId()) + ", which was never made");
        }
        PendingCall call = calls.take(header.callId()); // from here on it must get its frame
        answered[i] = call;
      }
      dispatching = reader == Reader.IO && count > 1;
    } finally {
      lock.unlock();
      handOver(answered, frames);
    }
    readClock(header.serverNanos(), now);
  }

  /** Gives each call its frame; a frame without a call is late and dropped. */
  private static void handOver(@Nullable PendingCall[] answered, List<byte[]> frames) {
    for (int i = 0; i < answered.length; i++) {
      PendingCall call = answered[i];
      if (call != null) {
        call.reply(frames.get(i));
      }
    }
  }

  /**
   * The server's clock was at {@code serverNanos} before {@code nanos}: the difference is at least
   * that. A reply that lay around gives too small a difference, so the largest counts, less what
   * the clocks can have drifted.
   */
  private void readClock(long serverNanos, long nanos) {
    long seen = serverNanos - nanos;
    long kept = clockDifference - (nanos - clockReadNanos >> DRIFT_SHIFT);
    clockDifference = seen - kept > 0 ? seen : kept;
    clockReadNanos = nanos;
    lastReplyNanos = nanos;
  }

  // ---- The I/O thread

  @GuardedBy("lock")
  private void wantIoLocked() {
    if (state == State.CLOSED) {
      return;
    }
    switch (reader) {
      case IO -> selector.wakeup();
      case CALLER -> {
        takeOver = true;
        selector.wakeup();
      }
      case NOBODY -> {
        reader = Reader.IO;
        if (ioThread == null) {
          ioThread = ioThreads.newThread(this::runIo);
          ioThread.start();
        } else {
          ioWanted.signal();
        }
      }
    }
  }

  private void runIo() {
    List<byte[]> frames = new ArrayList<>();
    try {
      while (awaitIoTurn()) {
        while (ioStep(frames)) {
          // until no call is left
        }
      }
    } finally {
      close(AttemptException.lost(server, "its I/O thread ended", null));
    }
  }

  /** False: the connection is closed. */
  private boolean awaitIoTurn() {
    lock.lock();
    try {
      while (reader != Reader.IO && state != State.CLOSED) {
        ioWanted.awaitUninterruptibly();
      }
      return state != State.CLOSED;
    } finally {
      lock.unlock();
    }
  }

  /** Waits, reads, hands out, writes. False: the role was given up. */
  @SuppressWarnings("ThreadPriorityCheck") // as in writeWaiting
  private boolean ioStep(List<byte[]> frames) {
    long wait;
    lock.lock();
    try {
      if (state == State.CLOSED) {
        return false;
      }
      key.interestOps(
          ioWrites ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
      wait = hasAsyncDeadline ? Math.max(0, asyncDeadlineNanos - clock.nanos()) : Long.MAX_VALUE;
    } finally {
      lock.unlock();
    }
    if (!select(wait)) {
      return false;
    }
    int count = readOnce(frames);
    writeLeft();
    if (count > 1) {
      Thread.yield();
    }
    expireAsync();
    boolean writes;
    boolean more;
    lock.lock();
    try {
      dispatching = false;
      writes = queue.isWaiting() && takeWritingLocked();
      more = calls.size() > 0 || ioWrites;
      if (!more && !writes && state != State.CLOSED) {
        reader = Reader.NOBODY;
        key.interestOps(SelectionKey.OP_READ); // a caller's select must not wait for writing
      }
    } finally {
      lock.unlock();
    }
    if (writes) {
      writeWaiting(false);
      return true;
    }
    closeIfRetiredAndIdle();
    return more;
  }

  private void expireAsync() {
    List<PendingCall> expired = List.of();
    lock.lock();
    try {
      long now = clock.nanos();
      if (hasAsyncDeadline && asyncDeadlineNanos - now <= 0) {
        expired = calls.takeExpiredAsync(now);
        long next = calls.nanosToFirstAsyncDeadline(now);
        hasAsyncDeadline = next != Long.MAX_VALUE;
        asyncDeadlineNanos = hasAsyncDeadline ? now + next : 0;
      }
    } finally {
      lock.unlock();
    }
    for (PendingCall call : expired) {
      call.fail(AttemptException.timedOut(server, "no answer within the time of the attempt"));
    }
    if (!expired.isEmpty()) {
      retire();
    }
  }

  // ---- The end

  /** No new calls; closed when no call is under way. */
  void retire() {
    lock.lock();
    try {
      if (state == State.OPEN) {
        state = State.RETIRED;
        open = false;
      }
    } finally {
      lock.unlock();
    }
    closeIfRetiredAndIdle();
  }

  private void closeIfRetiredAndIdle() {
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
    if (idle) {
      close(AttemptException.notSent(server, "the connection was retired", null));
    }
  }

  /** Fails all calls under way. Idempotent; any thread. */
  void close(AttemptException reason) {
    List<PendingCall> failed;
    lock.lock();
    try {
      if (state == State.CLOSED) {
        return;
      }
      state = State.CLOSED;
      open = false;
      closeReason = reason;
      failed = calls.takeAll();
      ioWanted.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      selector.close();
      link.close();
    } catch (IOException e) {
      reason.addSuppressed(e);
    }
    failed.forEach(call -> call.fail(reason));
  }

  /** Why it was closed; null if it is not. */
  @Nullable AttemptException closeReason() {
    lock.lock();
    try {
      return closeReason;
    } finally {
      lock.unlock();
    }
  }

  private enum State {
    OPEN,
    /** Takes no new calls. */
    RETIRED,
    CLOSED
  }

  private enum Reader {
    NOBODY,
    CALLER,
    IO
  }
}
