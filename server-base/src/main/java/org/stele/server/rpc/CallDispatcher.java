package org.stele.server.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.SteleError;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.MessageHeader;
import org.stele.core.wire.ReplyHeader;
import org.stele.core.wire.SteleErrors;
import org.stele.core.wire.StructWriter;

/**
 * Makes calls of frames: reads the headers, finds the method, checks the deadline, and has the call
 * run where it belongs. Each selector loop has one; frames are dispatched on its thread.
 */
final class CallDispatcher {
  /** The version of the call header, lowest and highest. */
  private static final int HEADER_VERSION = CallHeader.VERSION;

  /** Features that this release has beyond the header's version. */
  private static final long FEATURES = 0;

  /** The first byte of a message of the binary protocol before it had versions. */
  private static final int OLD_BINARY = 0x00;

  /** A call with larger arguments begins on a worker: decoding alone would hold others up. */
  private static final int MAX_INLINE_BYTES = 256 << 10;

  private static final int MAX_SHOWN_NAME = 100;

  /** Of the calls that run on the selector thread, one in so many is timed: a power of two. */
  private static final int INLINE_SAMPLE = 16;

  /** The headers of a call are whole within so many bytes, or are none of ours. */
  private static final int MAX_HEADERS_BYTES = 1 << 10;

  // ---- Constant
  private final Endpoint endpoint;
  private final MethodTable methods;
  private final WorkerPool users;
  private final WorkerPool system;
  private final String instanceId;
  private final long bootId;

  // ---- Used by the selector thread
  private final CallHeader header = new CallHeader();
  private final MessageHeader message = new MessageHeader();
  private int inlineRuns;

  CallDispatcher(
      Endpoint endpoint,
      MethodTable methods,
      WorkerPool users,
      WorkerPool system,
      String instanceId,
      long bootId) {
    this.endpoint = endpoint;
    this.methods = methods;
    this.users = users;
    this.system = system;
    this.instanceId = instanceId;
    this.bootId = bootId;
  }

  static boolean hasHeader(int firstByte) {
    return firstByte == CallHeader.MAGIC;
  }

  // ---- For calls

  RpcCounters counters() {
    return endpoint.counters();
  }

  long bootId() {
    return bootId;
  }

  long nanos() {
    return endpoint.clock().nanos();
  }

  boolean isTenantTrusted() {
    return endpoint.limits().tenantTrusted();
  }

  int frameMaxBytes() {
    return endpoint.limits().frameMaxBytes();
  }

  /** Whether the call that begins on the selector thread now is one of those that are timed. */
  boolean samplesInline() {
    return (inlineRuns++ & INLINE_SAMPLE - 1) == 0;
  }

  void reportFailure(String methodName, Throwable failure) {
    endpoint.junkLog().failed("The handler of " + methodName + " failed", failure);
  }

  /**
   * Hands a call to a worker of its class, or answers BUSY.
   *
   * @param large whether its frame was read into an array of its own
   */
  void submit(Connection connection, Invocation call, boolean large) {
    if (endpoint.hasRoomFor(connection, call, large)) {
      poolOf(call).submit(call);
    } else {
      poolOf(call)
          .refuseBusy(call, "calls that are not answered yet hold all memory (rpc.read.bytes)");
    }
  }

  /** Whether calls of its class wait for a worker. */
  boolean othersWait(Invocation call) {
    return poolOf(call).waiting() > 0;
  }

  private WorkerPool poolOf(Invocation call) {
    return call.isSystem() ? system : users;
  }

  // ---- Frames

  void dispatch(Connection connection, byte[] array, int offset, int length, boolean owned) {
    int firstByte = array[offset] & 0xff;
    if (hasHeader(firstByte)) {
      dispatchWithHeader(connection, array, offset, length, owned);
    } else if (MessageHeader.isProtocol(firstByte)) {
      dispatchPlain(connection, array, offset, length, owned);
    } else if (firstByte == OLD_BINARY) {
      message.clear();
      sendLastWords(
          connection,
          true,
          MessageHeader.BINARY,
          "this server speaks the compact and the strict binary protocol; the message is of the"
              + " binary protocol without version");
    } else {
      connection.junk(
          "a frame that begins with "
              + Integer.toHexString(firstByte)
              + "; calls begin with 82 (compact), 80 (strict binary) or c5 (call header)");
    }
  }

  private void dispatchWithHeader(
      Connection connection, byte[] array, int offset, int length, boolean owned) {
    int headerBytes;
    try {
      headerBytes = header.decode(array, offset, length);
    } catch (MalformedBytesException e) {
      message.clear();
      refuseAndFinish(connection, ErrorCode.BAD_REQUEST, e.getMessage());
      return;
    }
    if (header.has(CallHeader.HELLO)) {
      message.clear();
      greet(connection);
      return;
    }
    if (!connection.greeted) {
      readBegin(array, offset + headerBytes, length - headerBytes);
      refuseAndFinish(
          connection, ErrorCode.BAD_REQUEST, "the first frame with a call header must be a HELLO");
      return;
    }
    long deadline = connection.nowNanos() + endpoint.limits().deadlineDefaultNanos();
    if (header.has(CallHeader.DEADLINE)) {
      if (header.bootId() != bootId) {
        readBegin(array, offset + headerBytes, length - headerBytes);
        refuse(
            ErrorCode.UNAVAILABLE,
            "the deadline is on the clock of another run of the server: boot id "
                + Long.toHexString(header.bootId())
                + ", this is "
                + Long.toHexString(bootId));
        return;
      }
      deadline = clamped(header.deadlineNanos(), connection.nowNanos());
    }
    dispatchMessage(
        connection, array, offset + headerBytes, offset + length, owned, header, deadline);
  }

  private long clamped(long deadlineNanos, long now) {
    long left = deadlineNanos - now;
    return now + Math.min(left, endpoint.limits().deadlineMaxNanos());
  }

  private void dispatchPlain(
      Connection connection, byte[] array, int offset, int length, boolean owned) {
    long deadline = connection.nowNanos() + endpoint.limits().deadlineDefaultNanos();
    dispatchMessage(connection, array, offset, offset + length, owned, null, deadline);
  }

  private void dispatchMessage(
      Connection connection,
      byte[] array,
      int offset,
      int end,
      boolean owned,
      @Nullable CallHeader callHeader,
      long deadline) {
    try {
      message.decode(array, offset, end - offset);
      if (message.type() != MessageHeader.CALL && !message.isOneway()) {
        throw new MalformedBytesException(
            "a client sends calls, not messages of type " + message.type());
      }
    } catch (MalformedBytesException e) {
      counters().malformed.increment();
      if (callHeader == null) {
        forgetAllButOneway();
        sendLastWords(connection, true, array[offset] & 0xff, e.getMessage());
      } else {
        refuse(ErrorCode.BAD_REQUEST, e.getMessage());
      }
      return;
    }
    ServedMethod<?> method = methods.find(array, message.nameOffset(), message.nameLength());
    if (method == null) {
      refuseUnknownMethod(callHeader);
      return;
    }
    method.calls.increment();
    Invocation call = new Invocation(connection, this, method, message, deadline);
    if (callHeader != null) {
      call.setHeader(callHeader);
    }
    connection.begin(call.isPlain());
    begin(call, connection, array, message.bodyOffset(), end, owned);
  }

  private void begin(
      Invocation call, Connection connection, byte[] array, int offset, int end, boolean owned) {
    if (endpoint.isClosing()) {
      call.refuse(WorkerPool.shuttingDown());
    } else if (call.deadlineNanos() - connection.nowNanos() <= 0) {
      call.expire();
    } else if (!call.method().inline || end - offset > MAX_INLINE_BYTES) {
      call.runLater(ReplyScratch.ofThread(), array, offset, end, owned);
    } else if (users.waiting() == 0) {
      call.runInline(ReplyScratch.ofThread(), array, offset, end, owned);
    } else {
      runInlineFairly(call, array, offset, end, owned);
    }
  }

  /** While others wait for workers: whoever has had more than they has to wait with them. */
  private void runInlineFairly(Invocation call, byte[] array, int offset, int end, boolean owned) {
    if (!call.isSystem() && users.hasHadMore(call.principal())) {
      call.runLater(ReplyScratch.ofThread(), array, offset, end, owned);
      return;
    }
    long begin = nanos();
    call.runInline(ReplyScratch.ofThread(), array, offset, end, owned);
    if (!call.isSystem()) {
      // what was handed on to a worker is charged with its bytes when it has run
      boolean handedOn = call.heldBytes() > 0;
      long bytesMoved = handedOn ? 0 : end - offset + call.bytesMoved();
      users.charge(call.principal(), nanos() - begin, bytesMoved);
    }
  }

  // ---- Answers to what is no call

  private void greet(Connection connection) {
    if (connection.greeted) {
      refuseAndFinish(connection, ErrorCode.BAD_REQUEST, "a second HELLO");
    } else if (header.lowestVersion() > HEADER_VERSION
        || header.highestVersion() < HEADER_VERSION) {
      refuseAndFinish(
          connection,
          ErrorCode.BAD_REQUEST,
          "the client speaks versions "
              + header.lowestVersion()
              + " to "
              + header.highestVersion()
              + " of the call header, this server speaks "
              + HEADER_VERSION);
    } else if ((header.requiredFeatures() & ~FEATURES) != 0) {
      refuseAndFinish(
          connection,
          ErrorCode.BAD_REQUEST,
          "the client needs features "
              + Long.toHexString(header.requiredFeatures() & ~FEATURES)
              + " that this server does not have");
    } else if (!header.instanceId().isEmpty() && !header.instanceId().equals(instanceId)) {
      refuseAndFinish(
          connection,
          ErrorCode.NOT_SERVING,
          "this server belongs to instance "
              + instanceId
              + ", the client wants instance "
              + header.instanceId());
    } else {
      connection.greeted = true;
      send(
          out ->
              ReplyHeader.encodeHello(
                  out,
                  header.callId(),
                  bootId,
                  nanos(),
                  HEADER_VERSION,
                  FEATURES,
                  frameMaxBytes(),
                  instanceId));
    }
  }

  /** Answers the message read last, unless nobody waits for an answer. */
  private void refuse(ErrorCode code, @Nullable String reason) {
    if (message.isOneway()) {
      return;
    }
    SteleException error = new SteleException(code, String.valueOf(reason));
    send(out -> ReplyHeader.encodeRefused(out, header.callId(), bootId, nanos(), error));
  }

  /** For a peer that cannot go on: it reads why, then the end. */
  private void refuseAndFinish(Connection connection, ErrorCode code, @Nullable String reason) {
    counters().malformed.increment();
    refuse(code, reason);
    connection.finish();
  }

  private void refuseUnknownMethod(@Nullable CallHeader callHeader) {
    counters().malformed.increment();
    String name = message.name();
    String text =
        "there is no method "
            + (name.length() > MAX_SHOWN_NAME ? name.substring(0, MAX_SHOWN_NAME) + "…" : name);
    if (callHeader != null) {
      refuse(ErrorCode.BAD_REQUEST, text);
    } else if (!message.isOneway()) {
      send(
          out ->
              appendException(out, message.protocol(), TApplicationException.UNKNOWN_METHOD, text));
    }
  }

  /** Answers a frame that came without TLS, where there must be TLS: it is not looked at. */
  void refuseUnencrypted(Connection connection, byte[] array, int offset, int length) {
    String reason = "this server speaks TLS only (rpc.tls)";
    int firstByte = array[offset] & 0xff;
    if (hasHeader(firstByte)) {
      try {
        int headerBytes = header.decode(array, offset, length);
        readBegin(array, offset + headerBytes, length - headerBytes);
        refuseAndFinish(connection, ErrorCode.DENIED, reason);
      } catch (MalformedBytesException e) {
        connection.junk(e.getMessage() + ", and without TLS");
      }
    } else if (MessageHeader.isProtocol(firstByte)) {
      readBegin(array, offset, length);
      sendLastWords(connection, true, firstByte, reason);
    } else {
      connection.junk("it does not speak TLS");
    }
  }

  /** For a client that speaks TLS, where there is none: it will find this to be no TLS. */
  void refuseEncrypted(Connection connection) {
    String reason = "the client speaks TLS, this server does not (rpc.tls)";
    counters().junk.increment();
    endpoint.junkLog().closed(connection.peer(), reason);
    SteleException error = new SteleException(ErrorCode.DENIED, reason);
    send(out -> ReplyHeader.encodeRefused(out, 0, bootId, nanos(), error));
    connection.finish();
  }

  /**
   * Answers a call whose frame is larger than is taken, as far as its begin tells who asked; then
   * the connection ends, since the rest of the frame would have to be read to find the next one.
   */
  void refuseTooLarge(Connection connection, byte[] array, int offset, int length, String reason) {
    int first = array[offset] & 0xff;
    try {
      if (hasHeader(first)) {
        int headerBytes = header.decode(array, offset, length);
        message.decode(array, offset + headerBytes, length - headerBytes);
        refuseAndFinish(connection, ErrorCode.TOO_LARGE, reason);
        return;
      }
      if (MessageHeader.isProtocol(first)) {
        message.decode(array, offset, length);
        refusePlainTooLarge(connection, array, reason);
        return;
      }
    } catch (MalformedBytesException e) {
      if (length < MAX_HEADERS_BYTES) {
        return; // the begin may be cut off: there will be more of it
      }
    }
    connection.junk(reason);
  }

  /** With the IDL's error, if that is what the caller waits for. */
  private void refusePlainTooLarge(Connection connection, byte[] array, String reason) {
    ServedMethod<?> method = methods.find(array, message.nameOffset(), message.nameLength());
    if (method == null || message.isOneway()) {
      sendLastWords(connection, true, message.protocol(), reason);
      return;
    }
    counters().junk.increment();
    endpoint.junkLog().closed(connection.peer(), reason);
    SteleError error = SteleErrors.toThrift(new SteleException(ErrorCode.TOO_LARGE, reason));
    send(
        out -> {
          MessageHeader.encode(
              out, message.protocol(), MessageHeader.REPLY, message.sequenceId(), method.nameUtf8);
          writeOrFail(writer -> writer.writeError(out, message.protocol(), error));
        });
    connection.finish();
  }

  /**
   * Answers a message that stands on the connection without a frame's length in front, which looks
   * like an absurd length.
   *
   * @return false if it is no such message
   */
  boolean answerUnframed(Connection connection, byte[] array, int offset, int length) {
    int first = array[offset] & 0xff;
    int second = length > 1 ? array[offset + 1] & 0x1f : 0;
    if (!MessageHeader.isProtocol(first) || second != 1) {
      return false;
    }
    readBegin(array, offset, length);
    sendLastWords(
        connection, false, first, "this server speaks the framed transport; use TFramedTransport");
    return true;
  }

  /** Reads the begin of a message, so that the answer names its call; if it is whole. */
  private void readBegin(byte[] array, int offset, int length) {
    try {
      message.decode(array, offset, length);
    } catch (MalformedBytesException e) {
      forgetAllButOneway();
    }
  }

  private void forgetAllButOneway() {
    if (!message.isOneway()) {
      message.clear();
    }
  }

  /**
   * An exception for the message read last, if one was read and somebody waits for an answer; then
   * the end of the connection.
   */
  private void sendLastWords(
      Connection connection, boolean framed, int protocol, @Nullable String reason) {
    counters().junk.increment();
    endpoint.junkLog().closed(connection.peer(), String.valueOf(reason));
    connection.finish();
    if (message.isOneway()) {
      return;
    }
    ByteWriter out = new ByteWriter();
    if (framed) {
      out.writeInt(0);
    }
    appendException(out, protocol, TApplicationException.INVALID_PROTOCOL, String.valueOf(reason));
    if (framed) {
      out.setInt(0, out.length() - FrameDecoder.LENGTH_BYTES);
    }
    ReplyScratch.ofThread().turnReplies().writeBytes(out.array(), 0, out.length());
  }

  /**
   * Appends an exception for the message read last. Its name is the caller's without the service in
   * front, as libthrift's multiplexing servers answer: some libraries find the waiting call by it.
   */
  private void appendException(ByteWriter out, int protocol, int type, String text) {
    String name = message.name();
    String method = name.substring(name.indexOf(':') + 1);
    MessageHeader.encode(
        out,
        protocol,
        MessageHeader.EXCEPTION,
        message.sequenceId(),
        (method.length() > MAX_SHOWN_NAME ? "" : method).getBytes(UTF_8));
    TApplicationException exception = new TApplicationException(type, text);
    writeOrFail(writer -> writer.writeException(out, protocol, exception));
  }

  private interface Writing {
    void with(StructWriter writer) throws TException;
  }

  private static void writeOrFail(Writing writing) {
    try {
      writing.with(ReplyScratch.ofThread().writer);
    } catch (TException e) {
      throw new IllegalStateException("an exception cannot be written", e);
    }
  }

  private interface Body {
    void append(ByteWriter out);
  }

  /** Adds a frame to the replies of this turn. */
  private static void send(Body body) {
    ByteWriter out = ReplyScratch.ofThread().turnReplies();
    int begin = out.length();
    out.writeInt(0);
    body.append(out);
    out.setInt(begin, out.length() - begin - FrameDecoder.LENGTH_BYTES);
  }
}
