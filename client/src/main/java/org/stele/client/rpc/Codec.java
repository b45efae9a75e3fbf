package org.stele.client.rpc;

import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.MessageHeader;
import org.stele.core.wire.PackedCellsReader;
import org.stele.core.wire.ReplyHeader;
import org.stele.core.wire.StructReader;
import org.stele.core.wire.StructWriter;

/**
 * Encodes calls into frames, and decodes reply frames, with buffers that are used again and again.
 * One per thread.
 */
final class Codec {
  private static final int FIRST_BYTES = 512;
  private static final int KEPT_BYTES = 1 << 20;

  private final RpcOptions options;
  private final CallHeader header = new CallHeader();
  private final ReplyHeader replyHeader = new ReplyHeader();
  private final MessageHeader message = new MessageHeader();
  private final Tools tools = new Tools();
  private ByteWriter frame = new ByteWriter(FIRST_BYTES);

  Codec(RpcOptions options) {
    this.options = options;
  }

  /**
   * Encodes a call for a connection, whose clock its deadline is on.
   *
   * @return the frame with its length in front, valid until the next call of this
   * @throws AttemptException TOO_LARGE if the server does not take such a frame; BAD_REQUEST if the
   *     arguments cannot be encoded
   */
  <A> ByteWriter encode(
      Connection connection, String server, Method<A, ?> method, A arguments, CallLimits limits) {
    frame.clear();
    frame.writeInt(0);
    try {
      encodeHeader(connection.serverClock(), limits);
      method.encodeCall(frame, arguments, tools);
    } catch (TException | IllegalArgumentException e) {
      throw AttemptException.replied(
          server,
          new SteleException(
              ErrorCode.BAD_REQUEST,
              "a call of " + method.name() + " cannot be encoded: " + e.getMessage(),
              e));
    }
    int length = frame.length() - Integer.BYTES;
    if (length > connection.maxFrameBytes()) {
      throw AttemptException.replied(
          server,
          new SteleException(
              ErrorCode.TOO_LARGE,
              "a call of " + length + " bytes: the server takes " + connection.maxFrameBytes()));
    }
    frame.setInt(0, length);
    return frame;
  }

  private void encodeHeader(ServerClock clock, CallLimits limits) {
    header.reset(0, options.clientId());
    header.setDeadline(clock.bootId(), clock.deadline(limits.deadlineNanos()));
    if (limits.attempt() > 1) {
      header.setRetry(limits.sinceFirstMillis(), limits.attempt());
    }
    if (!options.tenant().isEmpty()) {
      header.setTenant(options.tenant());
    }
    header.encode(frame);
  }

  /** To be called when the frame was sent: a large buffer is not kept. */
  void release() {
    if (frame.array().length > KEPT_BYTES) {
      frame = new ByteWriter(FIRST_BYTES);
    }
  }

  /**
   * Decodes a reply. Byte buffers of the result lie in the frame.
   *
   * @throws AttemptException if the server refused the call or the reply makes no sense
   */
  <R> R decode(String server, Method<?, R> method, byte[] reply) {
    try {
      int offset = replyHeader.decode(reply, 0, reply.length);
      if (replyHeader.isRefused()) {
        throw AttemptException.replied(server, replyHeader.refusal());
      }
      message.decode(reply, offset, reply.length - offset);
      if (message.type() == MessageHeader.EXCEPTION) {
        throw AttemptException.replied(server, cannotRun(method, reply));
      }
      if (message.type() != MessageHeader.REPLY || !method.isNamedIn(message, reply)) {
        throw new MalformedBytesException("a reply to " + message.name() + " for " + method.name());
      }
      return method.decodeResult(server, reply, message, tools);
    } catch (AttemptException e) {
      throw e;
    } catch (TException | RuntimeException e) {
      throw AttemptException.lost(
          server, "the reply to " + method.name() + " makes no sense: " + e.getMessage(), e);
    }
  }

  private SteleException cannotRun(Method<?, ?> method, byte[] reply) throws TException {
    String why =
        StructReader.readException(message.protocol(), reply, message.bodyOffset(), reply.length)
            .getMessage();
    return new SteleException(
        ErrorCode.INTERNAL, "the server cannot run " + method.name() + ": " + why);
  }

  /** What methods encode and decode with. */
  static final class Tools {
    private final StructWriter writer = new StructWriter();
    private final StructReader reader = new StructReader();
    private final ByteReader bytes = new ByteReader();
    private final PackedCellsReader cells = new PackedCellsReader();

    StructWriter writer() {
      return writer;
    }

    /** Fills a result structure. */
    void read(byte[] reply, MessageHeader message, TBase<?, ?> result) throws TException {
      reader.read(message.protocol(), reply, message.bodyOffset(), reply.length, result);
    }

    ByteReader bytes() {
      return bytes;
    }

    PackedCellsReader cells() {
      return cells;
    }
  }
}
