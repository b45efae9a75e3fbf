package org.stele.server.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteWriter;

/**
 * One client's connection: the frames it sent that are not taken yet, the calls that are not
 * answered yet, the replies it did not take yet, and the deadlines of all three.
 *
 * <p>Its selector thread reads, takes frames and closes. Any thread answers, and asks the selector
 * thread for attention where that has to go on. States: open; closing (answers what is in flight,
 * takes no more frames); lingering (all is answered and our side shut down; what still comes is
 * dropped, so that the client reads our last words); closed.
 */
final class Connection implements FrameDecoder.Sink {
  /** Calls in flight beyond which a connection is not read. */
  private static final int MAX_IN_FLIGHT = 2048;

  /** Unsent bytes beyond which a connection is not read. */
  private static final int MAX_UNSENT_BYTES = 256 << 10;

  /** Replies of a turn beyond which they are written before the turn is over. */
  private static final int MAX_TURN_REPLY_BYTES = 64 << 10;

  private static final int MAX_TURN_CALLS = 128;
  private static final long MAX_TURN_NANOS = 1_000_000;
  private static final int CALLS_PER_CLOCK_READING = 8;
  private static final long LINGER_NANOS = 2_000_000_000;

  private enum State {
    OPEN,
    CLOSING,
    LINGERING,
    CLOSED
  }

  // ---- Constant
  private final SocketChannel channel;
  private final SelectorLoop loop;
  private final InetSocketAddress peer;
  private final FrameDecoder frames;
  private final ReplyWriter replies;

  // ---- Used by the selector thread
  private @Nullable SelectionKey key;
  private int interest;
  private State state = State.OPEN;

  /** The client's HELLO was answered: headers are understood. */
  boolean greeted;

  private boolean inputEnded;
  private boolean waitsForMemory;
  private int turnCalls;
  private long turnStartNanos;
  private long nowNanos;
  private boolean turnOver;

  /** When bytes came last, or a deadline check first saw that all is answered and taken. */
  private long activeNanos;

  /** Whether a deadline check saw calls in flight or replies not taken. */
  private boolean wasBusy;

  private long partialSinceNanos;
  private long lingerSinceNanos;

  // ---- Used by all threads
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicBoolean attentionAsked = new AtomicBoolean();

  /** A call without header is in flight: no other call runs beside it. */
  private volatile boolean plainInFlight;

  /** A frame waits until a call is answered or replies are taken. */
  private volatile boolean stalled;

  /** The selector thread waits for the last reply. */
  private volatile boolean finishing;

  private volatile boolean broken;

  Connection(SocketChannel channel, SelectorLoop loop, InetSocketAddress peer) {
    this.channel = channel;
    this.loop = loop;
    this.peer = peer;
    Endpoint endpoint = loop.endpoint();
    frames = new FrameDecoder(endpoint.limits().frameMaxBytes(), endpoint.readBudget());
    replies =
        new ReplyWriter(
            channel, this, endpoint.replyBudget(), endpoint.counters(), endpoint.clock());
    activeNanos = endpoint.clock().nanos();
    nowNanos = activeNanos;
  }

  InetSocketAddress peer() {
    return peer;
  }

  SocketChannel channel() {
    return channel;
  }

  ReplyWriter replies() {
    return replies;
  }

  Endpoint endpoint() {
    return loop.endpoint();
  }

  AtomicBoolean attentionAsked() {
    return attentionAsked;
  }

  /** The clock, as read during this turn. */
  long nowNanos() {
    return nowNanos;
  }

  // ---- Selector thread: events

  void registered(SelectionKey newKey) {
    key = newKey;
    interest = newKey.interestOps();
  }

  /** Bytes, or the end of input, are there. */
  void read(ReadBuffer buffer, long now) throws IOException {
    if (state == State.LINGERING) {
      if (buffer.read(channel, 0, buffer.array().length) < 0) {
        close();
      }
      return;
    }
    if (state != State.OPEN || frames.frameWaits()) {
      updateInterest();
      return;
    }
    if (loop.mustWaitForMemory(this)) {
      waitsForMemory = true;
      loop.goOnWithMemory(this);
      updateInterest();
      return;
    }
    beginTurn(now);
    boolean partialBefore = frames.isPartial();
    int count = frames.isGathering() ? gather(buffer) : readFrames(buffer);
    if (count < 0) {
      inputEnded = true;
      finish();
    } else if (count > 0) {
      activeNanos = now;
      if (!partialBefore) {
        partialSinceNanos = now;
      }
    }
    endTurn();
  }

  private int readFrames(ReadBuffer buffer) throws IOException {
    int kept = frames.moveTo(buffer.array());
    int count = buffer.read(channel, kept, buffer.array().length - kept);
    int taken = turnCalls;
    frames.offer(buffer.array(), kept + Math.max(0, count), this);
    if (turnCalls > taken) {
      partialSinceNanos = nowNanos;
    }
    return count;
  }

  private int gather(ReadBuffer buffer) throws IOException {
    int count = buffer.read(channel, 0, frames.gatherable(buffer.array().length));
    if (count > 0) {
      frames.gather(buffer.array(), count, this);
    }
    return count;
  }

  /** The socket has room for replies. */
  void write() throws IOException {
    if (replies.isBlocked()) {
      loop.endpoint().blocked().remove(this);
      replies.resume();
    }
    goOn(loop.endpoint().clock().nanos());
  }

  /** Something that this connection waits for may have happened. */
  void goOn(long now) {
    if (broken) {
      close();
      return;
    }
    if (waitsForMemory) {
      waitsForMemory = loop.mustWaitForMemory(this);
      if (waitsForMemory) {
        loop.goOnWithMemory(this);
      }
    }
    turnOver = false;
    if (state == State.OPEN && frames.frameWaits()) {
      beginTurn(now);
      frames.offerKept(ReadBuffer.BYTES, this);
      partialSinceNanos = now;
      endTurn();
    }
    endIfAnswered(now);
    updateInterest();
  }

  private void beginTurn(long now) {
    turnCalls = 0;
    turnStartNanos = now;
    nowNanos = now;
    turnOver = false;
    loop.scratch().turnOf = this;
  }

  /** Writes the replies of this turn. */
  private void endTurn() {
    ReplyScratch scratch = loop.scratch();
    flushTurn(scratch);
    scratch.turnOf = null;
    if (turnOver && state == State.OPEN) {
      loop.goOnLater(this);
    }
    if (!frames.isGathering()) {
      loop.endpoint().giveBackPrecedence(this);
    }
    endIfAnswered(nowNanos);
    updateInterest();
  }

  /** A connection that is closing and has nothing in flight has no reason to stay. */
  private void endIfAnswered(long now) {
    if (state == State.CLOSING && isQuiet()) {
      if (inputEnded) {
        close();
      } else {
        linger(now);
      }
    }
  }

  private void flushTurn(ReplyScratch scratch) {
    ByteWriter out = scratch.turnReplies();
    if (out.length() > 0) {
      replies.send(out.array(), 0, out.length());
      scratch.clearTurnReplies();
    }
  }

  // ---- Selector thread: frames

  @Override
  public boolean accepts(int firstByte) {
    if (turnOver || turnIsOver()) {
      turnOver = true;
      return false;
    }
    if (isFree(firstByte)) {
      return true;
    }
    stalled = true;
    if (isFree(firstByte)) { // answered meanwhile, by a thread that did not see the mark
      stalled = false;
      return true;
    }
    return false;
  }

  private boolean isFree(int firstByte) {
    int calls = inFlight.get();
    return !plainInFlight
        && calls < MAX_IN_FLIGHT
        && (calls == 0 || CallDispatcher.hasHeader(firstByte))
        && replies.unsentBytes() < MAX_UNSENT_BYTES;
  }

  private boolean turnIsOver() {
    if (loop.scratch().turnReplies().length() > MAX_TURN_REPLY_BYTES) {
      flushTurn(loop.scratch());
    }
    if (turnCalls % CALLS_PER_CLOCK_READING == CALLS_PER_CLOCK_READING - 1) {
      nowNanos = loop.endpoint().clock().nanos();
    }
    return turnCalls >= MAX_TURN_CALLS || nowNanos - turnStartNanos > MAX_TURN_NANOS;
  }

  @Override
  public void frame(byte[] array, int offset, int length, boolean owned) {
    turnCalls++;
    loop.dispatcher().dispatch(this, array, offset, length, owned);
  }

  @Override
  public void notFrames(byte[] array, int offset, int length, String reason) {
    if (!loop.dispatcher().answerUnframed(this, array, offset, length)) {
      junk(reason);
    }
  }

  @Override
  public void tooLarge(byte[] array, int offset, int length, String reason) {
    loop.dispatcher().refuseTooLarge(this, array, offset, length, reason);
  }

  @Override
  public boolean isOpen() {
    return state == State.OPEN;
  }

  // ---- Selector thread: the end

  /** What came is not this protocol. */
  void junk(String reason) {
    loop.endpoint().counters().junk.increment();
    loop.endpoint().junkLog().closed(peer, reason);
    flushTurn(loop.scratch());
    close();
  }

  /** Takes no more frames; closes when all is answered. */
  void finish() {
    if (state == State.OPEN) {
      state = State.CLOSING;
      frames.drop();
      finishing = true;
    }
  }

  /** Whether nothing of it is in flight. */
  boolean isQuiet() {
    return inFlight.get() == 0 && replies.isDone();
  }

  /** Our last words are with the operating system: closing now could still take them back. */
  private void linger(long now) {
    state = State.LINGERING;
    lingerSinceNanos = now;
    try {
      channel.shutdownOutput();
    } catch (IOException e) {
      close();
    }
  }

  /** Idempotent. */
  void close() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    frames.drop();
    replies.close();
    Endpoint endpoint = loop.endpoint();
    endpoint.blocked().remove(this);
    endpoint.giveBackPrecedence(this);
    loop.closed(this);
  }

  /** Closes it if one of its deadlines is over. */
  void checkDeadlines(long now) {
    RpcLimits limits = loop.endpoint().limits();
    String late = null;
    noteWork(now);
    if (state == State.LINGERING) {
      if (now - lingerSinceNanos > LINGER_NANOS) {
        close();
      }
    } else if (replies.isBlocked()) {
      if (now - replies.progressNanos() > limits.writeNanos()) {
        late =
            "took nothing of its replies ("
                + replies.unsentBytes()
                + " bytes) for rpc.write.timeout";
      }
    } else if (frames.isPartial() && now - partialSinceNanos > limits.partialNanos()) {
      late = "a frame was not whole within rpc.partial.timeout";
    } else if (now - activeNanos > limits.idleNanos() + patience(limits)) {
      late = "no call for rpc.idle.timeout";
    }
    if (late != null) {
      loop.endpoint().counters().timedOut.increment();
      loop.endpoint().junkLog().closed(peer, late);
      close();
    }
  }

  /** Idle time begins when the last answer is with the client, not when its call came. */
  private void noteWork(long now) {
    boolean busy = !isQuiet();
    if (wasBusy && !busy) {
      activeNanos = now;
    }
    wasBusy = busy;
  }

  /** While calls are in flight, silence is no fault of the client. */
  private long patience(RpcLimits limits) {
    return inFlight.get() == 0 ? 0 : limits.deadlineMaxNanos();
  }

  FrameDecoder frames() {
    return frames;
  }

  private void updateInterest() {
    if (key == null || state == State.CLOSED) {
      return;
    }
    int wanted = replies.isBlocked() ? SelectionKey.OP_WRITE : 0;
    if (state == State.LINGERING
        || state == State.OPEN && !frames.frameWaits() && !waitsForMemory) {
      wanted |= SelectionKey.OP_READ;
    }
    if (wanted != interest) {
      interest = wanted;
      try {
        key.interestOps(wanted);
      } catch (CancelledKeyException e) {
        close();
      }
    }
  }

  // ---- Any thread

  /** A call begins; on the selector thread. */
  void begin(boolean plain) {
    inFlight.incrementAndGet();
    if (plain) {
      plainInFlight = true;
    }
  }

  /** A call's reply was sent, or it has none. */
  void end(boolean plain) {
    if (plain) {
      plainInFlight = false;
    }
    int left = inFlight.decrementAndGet();
    if (stalled) {
      stalled = false;
      loop.attend(this);
    } else if (finishing && left == 0) {
      loop.attend(this);
    }
  }

  int inFlight() {
    return inFlight.get();
  }

  /** The writer gave its turn up. */
  void repliesWritten() {
    if (stalled) {
      stalled = false;
      loop.attend(this);
    } else if (finishing) {
      loop.attend(this);
    }
  }

  /** The socket is full: the selector thread goes on when it is not. */
  void waitForRoom() {
    loop.endpoint().blocked().add(this);
    loop.attend(this);
  }

  /** The client is gone, or must go; its replies are dropped at once. */
  void breakOff() {
    broken = true;
    replies.close();
    loop.attend(this);
  }
}
