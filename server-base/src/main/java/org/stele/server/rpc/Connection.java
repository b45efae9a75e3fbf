package org.stele.server.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteWriter;
import org.stele.core.net.Link;
import org.stele.core.net.PlainLink;
import org.stele.core.net.TlsLink;

/**
 * One client's connection: the frames it sent that are not taken yet, the calls that are not
 * answered yet, the replies it did not take yet, and the deadlines of all three. If connections are
 * encrypted it begins with a {@link Handshake}.
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

  // ---- Used by the selector thread; the link also by whoever writes, through its writer
  private Link link;

  /** While it is not done. */
  private @Nullable Handshake handshake;

  /** It came without TLS where there must be TLS: all its frames are refused. */
  private boolean isUnencrypted;

  /** Bytes in the link that are counted as read. */
  private int countedInputBytes;

  private @Nullable SelectionKey key;
  private int interest;
  private State state = State.OPEN;

  /** Set before the first call. */
  private String peerCertificate = "";

  /** The client's HELLO was answered: headers are understood. */
  boolean greeted;

  private boolean inputEnded;
  private boolean waitsForMemory;

  /** While it waits for memory: until when that is taken into account. */
  private long waitedUntilNanos;

  /** While it waits for memory: since when no call was under way whose end could free some. */
  private long vainSinceNanos;

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
    TlsHandshakes handshakes = endpoint.handshakes();
    if (handshakes == null) {
      link = new PlainLink(channel);
    } else {
      TlsLink encrypted = handshakes.accepted(channel);
      link = encrypted;
      handshake = new Handshake(encrypted, this, handshakes);
    }
    replies =
        new ReplyWriter(link, this, endpoint.replyBudget(), endpoint.counters(), endpoint.clock());
    activeNanos = endpoint.clock().nanos();
    nowNanos = activeNanos;
  }

  InetSocketAddress peer() {
    return peer;
  }

  SocketChannel channel() {
    return channel;
  }

  /** The name in the client's certificate, or empty. */
  String peerCertificate() {
    return peerCertificate;
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
      if (buffer.drop(channel) < 0) {
        close();
      }
      return;
    }
    if (handshake != null) {
      shakeHands(handshake, now);
      return;
    }
    if (state != State.OPEN || frames.frameWaits()) {
      updateInterest();
      return;
    }
    if (loop.mustWaitForMemory(this)) {
      waitsForMemory = true;
      waitedUntilNanos = now;
      vainSinceNanos = now;
      endpoint().counters().readWaits.increment();
      loop.goOnWithMemory(this);
      updateInterest();
      return;
    }
    beginTurn(now);
    boolean partialBefore = isPartial();
    try {
      int count = frames.isGathering() ? gather(buffer) : readFrames(buffer);
      if (count < 0) {
        inputEnded = true;
        finish();
      } else if (count > 0) {
        activeNanos = now;
      }
    } catch (SSLException e) {
      junk("TLS was broken: " + e.getMessage());
    }
    if (!partialBefore) {
      partialSinceNanos = now;
    }
    countInput();
    endTurn();
  }

  /** Whether part of a frame, or of an encrypted record, is there, and more of it must come. */
  private boolean isPartial() {
    return frames.isPartial()
        || !frames.frameWaits() && link.heldInputBytes() > 0 && !link.hasInput();
  }

  /** What the link keeps counts like what the frames keep. */
  private void countInput() {
    int held = state == State.CLOSED ? 0 : link.heldInputBytes();
    if (held != countedInputBytes) {
      loop.endpoint().readBudget().add(held - countedInputBytes);
      countedInputBytes = held;
    }
  }

  private int readFrames(ReadBuffer buffer) throws IOException {
    int kept = frames.moveTo(buffer.array());
    int count = buffer.read(link, kept, buffer.array().length - kept);
    int taken = turnCalls;
    frames.offer(buffer.array(), kept + Math.max(0, count), this);
    if (turnCalls > taken) {
      partialSinceNanos = nowNanos;
    }
    return count;
  }

  private int gather(ReadBuffer buffer) throws IOException {
    int count = buffer.read(link, 0, frames.gatherable(buffer.array().length));
    if (count > 0) {
      frames.gather(buffer.array(), count, this);
    }
    return count;
  }

  private void shakeHands(Handshake shaking, long now) {
    switch (shaking.advance()) {
      case DONE -> {
        handshake = null;
        peerCertificate = shaking.peerCertificate();
        activeNanos = now;
        partialSinceNanos = now;
        countInput();
        if (link.hasInput()) { // the first call came with the last message of the handshake
          loop.goOnLater(this);
        }
      }
      case NOT_TLS -> speakPlainly(shaking.receivedBytes(), now);
      case FAILED -> {
        handshake = null;
        finish();
        linger(now);
      }
      case GONE -> close();
      case WAITING -> {}
    }
    updateInterest();
  }

  /** The client must be told in its own language that it has to speak TLS. */
  private void speakPlainly(byte[] received, long now) {
    handshake = null;
    isUnencrypted = true;
    link = new PlainLink(channel);
    replies.setLink(link);
    beginTurn(now);
    byte[] buffer = loop.readBuffer().array();
    System.arraycopy(received, 0, buffer, 0, received.length);
    frames.offer(buffer, received.length, this);
    partialSinceNanos = now;
    endTurn();
  }

  /** The socket has room for replies. */
  void write() throws IOException {
    if (handshake != null) {
      shakeHands(handshake, loop.endpoint().clock().nanos());
      return;
    }
    if (replies.isBlocked()) {
      loop.endpoint().blocked().remove(this);
      replies.resume();
    }
    goOn(loop.endpoint().clock().nanos());
  }

  /** Something that this connection waits for may have happened. */
  void goOn(long now) throws IOException {
    if (broken) {
      close();
      return;
    }
    if (handshake != null) {
      shakeHands(handshake, now);
      return;
    }
    if (waitsForMemory) {
      waitOnForMemory(now);
    }
    noteBlocked();
    turnOver = false;
    if (state == State.OPEN && frames.frameWaits()) {
      beginTurn(now);
      frames.offerKept(ReadBuffer.BYTES, this);
      partialSinceNanos = now;
      endTurn();
    }
    if (isReadable() && link.hasInput()) {
      read(loop.readBuffer(), now);
    }
    endIfAnswered(now);
    updateInterest();
  }

  /** The time for which it was not read is no fault of the client. */
  private void waitOnForMemory(long now) {
    waitsForMemory = loop.mustWaitForMemory(this);
    partialSinceNanos += now - waitedUntilNanos;
    activeNanos += now - waitedUntilNanos;
    waitedUntilNanos = now;
    if (waitsForMemory) {
      loop.goOnWithMemory(this);
    }
  }

  /** A full socket is one of those that may have to go when replies take too much memory. */
  private void noteBlocked() {
    if (replies.isBlocked() && state != State.CLOSED && endpoint().blocked().add(this)) {
      endpoint().limitUnsent(this);
    }
  }

  /** Whether bytes that come, or are in the link, would be taken. */
  private boolean isReadable() {
    return state == State.OPEN && !frames.frameWaits() && !waitsForMemory;
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
    if (state == State.OPEN && (turnOver || isReadable() && link.hasInput())) {
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
    if (isUnencrypted) {
      loop.dispatcher().refuseUnencrypted(this, array, offset, length);
      return;
    }
    loop.dispatcher().dispatch(this, array, offset, length, owned);
  }

  @Override
  public void notFrames(byte[] array, int offset, int length, String reason) {
    if (isUnencrypted) {
      junk("it does not speak TLS: " + reason);
    } else if (TlsLink.looksLikeTls(array, offset, length)) {
      loop.dispatcher().refuseEncrypted(this);
    } else if (!loop.dispatcher().answerUnframed(this, array, offset, length)) {
      junk(reason);
    }
  }

  @Override
  public void tooLarge(byte[] array, int offset, int length, String reason) {
    if (isUnencrypted) {
      loop.dispatcher().refuseUnencrypted(this, array, offset, length);
      return;
    }
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

  /** Whether only its usual deadlines count: it neither shakes hands nor lingers. */
  boolean isSettled() {
    return state == State.OPEN && handshake == null;
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
      link.endOutput();
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
    countInput();
    try {
      link.close();
    } catch (IOException e) { // closed it is, whatever the operating system says
      endpoint.counters().loopFailures.increment();
    }
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
    } else if (handshake != null) {
      if (now - activeNanos > limits.handshakeNanos()) {
        endpoint().counters().handshakeFailures.increment();
        late = "no TLS handshake within rpc.tls.handshake.timeout";
      }
    } else if (replies.isBlocked()) {
      if (now - replies.progressNanos() > limits.writeNanos()) {
        late =
            "took nothing of its replies ("
                + replies.unsentBytes()
                + " bytes) for rpc.write.timeout";
      }
    } else if (waitsForMemory) {
      if (waitsInVain(now) && now - vainSinceNanos > limits.partialNanos()) {
        late = "there was no memory for the rest of a frame within rpc.partial.timeout";
      }
    } else if (isPartial() && now - partialSinceNanos > limits.partialNanos()) {
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

  /**
   * It is not read, so silence is no fault of the client. But parts of frames that all wait for
   * memory would wait for each other for ever: of those that hold some, one after the other goes.
   */
  private boolean waitsInVain(long now) {
    if (!isPartial() || endpoint().counters().inFlight() > 0 || !loop.mustWaitForMemory(this)) {
      vainSinceNanos = now;
      return false;
    }
    return true;
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
    int wanted = handshake != null ? handshake.interest() : interestInFrames();
    if (wanted != interest) {
      interest = wanted;
      try {
        key.interestOps(wanted);
      } catch (CancelledKeyException e) {
        close();
      }
    }
  }

  private int interestInFrames() {
    int wanted = replies.isBlocked() ? SelectionKey.OP_WRITE : 0;
    return state == State.LINGERING || isReadable() ? wanted | SelectionKey.OP_READ : wanted;
  }

  // ---- Any thread

  /** Has {@link #goOn} called soon. */
  void attend() {
    loop.attend(this);
  }

  /** A call begins; on the selector thread. */
  void begin(boolean plain) {
    inFlight.incrementAndGet();
    endpoint().counters().begun.increment();
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
    endpoint().counters().ended.increment();
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

  /** The client is gone, or must go; its replies are dropped at once. */
  void breakOff() {
    broken = true;
    replies.close();
    loop.attend(this);
  }
}
