package org.stele.server.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.concurrent.WouldBlockException;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.WriterStamp;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.MessageHeader;
import org.stele.core.wire.ReplyHeader;
import org.stele.core.wire.SteleErrors;

/**
 * One call, from its frame to its answer. Begun by a selector thread, run there or on a worker,
 * answered by any thread; only the first answer counts.
 */
final class Invocation implements Call, CallQueue.Waiting {
  private static final VarHandle ANSWERED = answeredHandle();
  private static final byte[] NO_FRAME = new byte[0];

  /** What a call costs itself while it waits. */
  private static final int OWN_BYTES = 256;

  // ---- Set before it is handed on
  private final Connection connection;
  private final CallDispatcher dispatcher;
  private final ServedMethod<?> method;
  private final int protocol;
  private final int sequenceId;
  private final boolean oneway;
  private boolean withHeader;
  private long callId;
  private long clientId;
  private String tenant = "";
  private int attempt = 1;
  private WriterStamp writer = WriterStamp.NONE;
  private long traceIdHigh;
  private long traceIdLow;
  private final long deadlineNanos;
  private long firstAttemptNanos;

  // ---- Used by the thread that has the call
  private byte[] frame = NO_FRAME;
  private int bodyOffset;
  private int bodyEnd;
  private int heldBytes;
  private boolean system;
  private long arrivedNanos;

  /** Whether the time to its reply is recorded. */
  private volatile boolean timed;

  /** Of the reply, with its length; written by the thread that answers. */
  private volatile int replyBytes;

  // ---- Used by all threads
  @SuppressWarnings("UnusedVariable") // through ANSWERED
  private volatile int answered;

  /** A call without header: its deadline is the default one. */
  Invocation(
      Connection connection,
      CallDispatcher dispatcher,
      ServedMethod<?> method,
      MessageHeader message,
      long deadlineNanos) {
    this.connection = connection;
    this.dispatcher = dispatcher;
    this.method = method;
    this.deadlineNanos = deadlineNanos;
    system = method.system;
    protocol = message.protocol();
    sequenceId = message.sequenceId();
    oneway = message.type() == MessageHeader.ONEWAY;
    arrivedNanos = connection.nowNanos();
    firstAttemptNanos = arrivedNanos;
  }

  /** It came with a header. */
  void setHeader(CallHeader header) {
    withHeader = true;
    callId = header.callId();
    clientId = header.clientId();
    tenant = header.tenant();
    attempt = header.attempt();
    writer = header.writer();
    traceIdHigh = header.traceIdHigh();
    traceIdLow = header.traceIdLow();
    firstAttemptNanos -= header.sinceFirstAttemptMillis() * 1_000_000;
  }

  /**
   * The argument structure lies in an array that this call keeps until it is answered: decoded
   * arguments point into it.
   */
  void setFrame(byte[] newFrame, int newBodyOffset, int newBodyEnd) {
    frame = newFrame;
    bodyOffset = newBodyOffset;
    bodyEnd = newBodyEnd;
    heldBytes = newFrame.length + OWN_BYTES;
    connection.endpoint().readBudget().add(heldBytes);
  }

  ServedMethod<?> method() {
    return method;
  }

  boolean isPlain() {
    return !withHeader;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public long firstAttemptNanos() {
    return firstAttemptNanos;
  }

  /** The frame, with what the call costs itself. */
  @Override
  public int heldBytes() {
    return heldBytes;
  }

  /** The tenant that the header names, where that is trusted, else the peer's address. */
  @Override
  public Object principal() {
    return dispatcher.isTenantTrusted() && !tenant.isEmpty()
        ? tenant
        : connection.peer().getAddress();
  }

  /** Bytes of it and of its reply, as far as there is one. */
  long bytesMoved() {
    return (long) heldBytes + replyBytes;
  }

  /** Whether it belongs to the class that users' load never refuses. */
  boolean isSystem() {
    return system;
  }

  void setSystem(boolean nowSystem) {
    system = nowSystem;
  }

  // ---- Running

  /** Runs it on the selector thread; the arguments lie in the loop's buffer. */
  void runInline(ReplyScratch scratch, byte[] array, int offset, int end, boolean owned) {
    dispatcher.counters().inline.increment();
    boolean wouldBlock = false;
    boolean sampled = dispatcher.samplesInline();
    if (sampled) {
      arrivedNanos = dispatcher.nanos();
      timed = true;
    }
    NonBlocking.enter();
    try {
      method.run(scratch.reader, protocol, array, offset, end, this);
    } catch (WouldBlockException e) {
      wouldBlock = true;
    } catch (Throwable e) { // whatever a handler throws is answered for it
      answerFailure(e);
    } finally {
      NonBlocking.exit();
    }
    if (sampled && !wouldBlock) {
      method.serviceTime.record(dispatcher.nanos() - arrivedNanos);
    }
    if (wouldBlock) {
      dispatcher.counters().handedOn.increment();
      submit(array, offset, end, owned);
    }
  }

  /** Hands it to a worker, without having run it. */
  void runLater(ReplyScratch scratch, byte[] array, int offset, int end, boolean owned) {
    try {
      system = method.isSystem(scratch.reader, protocol, array, offset, end);
    } catch (MalformedCallException | RuntimeException e) {
      answerFailure(e);
      return;
    }
    submit(array, offset, end, owned);
  }

  /** Takes what outlives the turn of its connection, if there is memory for it. */
  private void submit(byte[] array, int offset, int end, boolean owned) {
    if (owned) {
      setFrame(array, offset, end);
    } else {
      byte[] copy = Arrays.copyOfRange(array, offset, end);
      setFrame(copy, 0, copy.length);
    }
    dispatcher.submit(connection, this, owned);
  }

  /** Runs it, unless it is too late. Throws nothing. */
  void runOnWorker(long now) {
    if (!method.canBeDoneIn(deadlineNanos - now)) {
      expire();
      return;
    }
    method.queueTime.record(now - arrivedNanos);
    timed = true;
    byte[] array = frame;
    frame = NO_FRAME;
    try {
      method.run(ReplyScratch.ofThread().reader, protocol, array, bodyOffset, bodyEnd, this);
      method.took(dispatcher.nanos() - now);
    } catch (Throwable e) { // whatever a handler throws is answered for it
      answerFailure(e);
    }
  }

  private void answerFailure(Throwable failure) {
    if (failure instanceof SteleException error) {
      fail(error);
    } else if (failure instanceof MalformedCallException) {
      dispatcher.counters().malformed.increment();
      refuseMalformed(String.valueOf(failure.getMessage()));
    } else {
      dispatcher.counters().failures.increment();
      dispatcher.reportFailure(method.name, failure);
      fail(new SteleException(ErrorCode.INTERNAL, method.name + " failed: " + failure));
    }
  }

  // ---- Answering

  @Override
  public Caller caller() {
    return new Caller(
        connection.peer().getAddress(),
        clientId,
        tenant,
        connection.peerCertificate(),
        deadlineNanos,
        attempt,
        writer,
        traceIdHigh,
        traceIdLow);
  }

  @Override
  public boolean othersWait() {
    return dispatcher.othersWait(this);
  }

  @Override
  public void reply(TBase<?, ?> result) {
    answer(
        (out, scratch) -> {
          begin(out, MessageHeader.REPLY);
          scratch.writer.write(out, protocol, result);
        });
  }

  @Override
  public void fail(SteleException error) {
    answer((out, scratch) -> writeError(out, scratch, error));
  }

  /** Answers that it was not run. */
  void refuse(SteleException error) {
    if (error.code() == ErrorCode.BUSY) {
      dispatcher.counters().busy.increment();
    }
    answer((out, scratch) -> writeRefusal(out, scratch, error));
  }

  /** Its time was over before it ran. */
  void expire() {
    dispatcher.counters().expired.increment();
    refuse(
        new SteleException(
            ErrorCode.DEADLINE_EXCEEDED,
            "the time for " + method.name + " was over before it could run"));
  }

  /** Answers that its bytes are wrong, in the way every Thrift library knows. */
  void refuseMalformed(String message) {
    if (withHeader) {
      refuse(new SteleException(ErrorCode.BAD_REQUEST, message));
    } else {
      answer(
          (out, scratch) -> {
            begin(out, MessageHeader.EXCEPTION);
            scratch.writer.writeException(
                out,
                protocol,
                new TApplicationException(TApplicationException.PROTOCOL_ERROR, message));
          });
    }
  }

  private void writeRefusal(ByteWriter out, ReplyScratch scratch, SteleException error)
      throws TException {
    if (withHeader) {
      ReplyHeader.encodeRefused(out, callId, dispatcher.bootId(), dispatcher.nanos(), error);
    } else {
      writeError(out, scratch, error);
    }
  }

  private void writeError(ByteWriter out, ReplyScratch scratch, SteleException error)
      throws TException {
    begin(out, MessageHeader.REPLY);
    scratch.writer.writeError(out, protocol, SteleErrors.toThrift(error));
  }

  private void begin(ByteWriter out, int messageType) {
    if (withHeader) {
      ReplyHeader.encode(out, callId, dispatcher.bootId(), dispatcher.nanos());
    }
    MessageHeader.encode(out, protocol, messageType, sequenceId, method.nameUtf8);
  }

  /** Writes what follows the length of a frame. */
  private interface Body {
    void write(ByteWriter out, ReplyScratch scratch) throws TException;
  }

  private void answer(Body body) {
    if (!ANSWERED.compareAndSet(this, 0, 1)) {
      dispatcher.counters().answeredTwice.increment();
      return;
    }
    try {
      if (!oneway) {
        send(body);
      }
      if (timed) {
        method.replyTime.record(dispatcher.nanos() - arrivedNanos);
      }
    } finally {
      if (heldBytes > 0) {
        connection.endpoint().letFrameGo(this);
      }
      connection.end(isPlain());
    }
  }

  private void send(Body body) {
    ReplyScratch scratch = ReplyScratch.ofThread();
    boolean inTurn = scratch.turnOf == connection;
    ByteWriter out = inTurn ? scratch.turnReplies() : scratch.emptyReply();
    int begin = out.length();
    encode(out, begin, body, scratch);
    replyBytes = out.length() - begin;
    if (inTurn) {
      return;
    }
    ReplyBatch batch = scratch.batch;
    if (batch == null) {
      connection.replies().send(out.array(), 0, out.length());
    } else {
      connection.replies().queue(out.array(), 0, out.length());
      batch.add(connection);
    }
  }

  private void encode(ByteWriter out, int begin, Body body, ReplyScratch scratch) {
    SteleException failure = null;
    try {
      encodeFrame(out, begin, body, scratch);
    } catch (TException | RuntimeException | OutOfMemoryError e) {
      dispatcher.counters().failures.increment();
      failure =
          new SteleException(
              ErrorCode.INTERNAL, "the answer of " + method.name + " cannot be written: " + e);
    }
    int length = out.length() - begin - FrameDecoder.LENGTH_BYTES;
    if (failure == null && length > dispatcher.frameMaxBytes()) {
      failure =
          new SteleException(
              ErrorCode.TOO_LARGE,
              "the answer of "
                  + method.name
                  + " has "
                  + length
                  + " bytes, rpc.frame.max is "
                  + dispatcher.frameMaxBytes());
    }
    if (failure != null) {
      SteleException error = failure;
      out.truncate(begin);
      try {
        encodeFrame(out, begin, (to, with) -> writeError(to, with, error), scratch);
      } catch (TException e) {
        throw new IllegalStateException("an error cannot be written", e);
      }
    }
  }

  private static void encodeFrame(ByteWriter out, int begin, Body body, ReplyScratch scratch)
      throws TException {
    out.writeInt(0);
    body.write(out, scratch);
    out.setInt(begin, out.length() - begin - FrameDecoder.LENGTH_BYTES);
  }

  private static VarHandle answeredHandle() {
    try {
      return MethodHandles.lookup().findVarHandle(Invocation.class, "answered", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @Override
  public String toString() {
    String header = withHeader ? " (call " + Long.toUnsignedString(callId) + ")" : "";
    return method.name + header + " of " + connection.peer();
  }
}
