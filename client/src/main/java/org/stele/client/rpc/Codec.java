package org.stele.client.rpc;

import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.transport.TTransportException;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.ReplyHeader;

/**
 * Encodes calls into frames, and decodes reply frames, with buffers that are used again and again.
 * One per thread.
 */
final class Codec {
  private static final int KEPT_BYTES = 1 << 20;

  private final RpcOptions options;
  private final CallHeader header = new CallHeader();
  private final ReplyHeader replyHeader = new ReplyHeader();
  private final FrameTransport transport;
  private final TCompactProtocol protocol;
  private ByteWriter frame;

  Codec(RpcOptions options) {
    this.options = options;
    this.frame = new ByteWriter(512);
    TConfiguration configuration =
        TConfiguration.custom()
            .setMaxMessageSize(
                Math.max(options.maxReplyBytes(), TConfiguration.DEFAULT_MAX_MESSAGE_SIZE))
            .build();
    try {
      this.transport =
          new FrameTransport(configuration) {
            @Override
            ByteWriter out() {
              return frame;
            }
          };
    } catch (TTransportException e) {
      throw new IllegalStateException("a transport without a peer failed", e);
    }
    this.protocol = new TCompactProtocol(transport);
  }

  /**
   * Encodes a call for a connection, whose clock its deadline is on.
   *
   * @return the frame with its length in front, valid until the next call of this
   * @throws AttemptException TOO_LARGE if the server does not take such a frame
   */
  ByteWriter encode(
      Connection connection,
      String server,
      String method,
      TBase<?, ?> arguments,
      CallLimits limits) {
    frame.clear();
    frame.writeInt(0);
    header.reset(0, options.clientId());
    header.setDeadline(connection.bootId(), connection.serverDeadlineNanos(limits.deadlineNanos()));
    if (limits.attempt() > 1) {
      header.setRetry(limits.sinceFirstMillis(), limits.attempt());
    }
    if (!options.tenant().isEmpty()) {
      header.setTenant(options.tenant());
    }
    header.encode(frame);
    try {
      protocol.reset();
      protocol.writeMessageBegin(new TMessage(method, TMessageType.CALL, 1));
      arguments.write(protocol);
      protocol.writeMessageEnd();
    } catch (TException e) {
      throw new IllegalArgumentException(
          "cannot encode a call of " + method + ": " + e.getMessage(), e);
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

  /** To be called when the frame was sent: a large buffer is not kept. */
  void release() {
    if (frame.array().length > KEPT_BYTES) {
      frame = new ByteWriter(512);
    }
  }

  /**
   * Decodes a reply.
   *
   * @return the result structure
   * @throws AttemptException if the server refused the call or the reply makes no sense
   */
  <T extends TBase<T, ?>> T decode(String server, Method<T> method, byte[] reply) {
    try {
      int offset = replyHeader.decode(reply, 0, reply.length);
      if (replyHeader.isRefused()) {
        throw AttemptException.replied(server, replyHeader.refusal());
      }
      transport.readFrom(reply, offset);
      protocol.reset();
      TMessage message = protocol.readMessageBegin();
      if (message.type == TMessageType.EXCEPTION) {
        throw AttemptException.replied(
            server,
            new SteleException(
                ErrorCode.INTERNAL,
                "the server cannot run "
                    + method.name()
                    + ": "
                    + TApplicationException.readFrom(protocol).getMessage()));
      }
      if (message.type != TMessageType.REPLY || !message.name.equals(method.name())) {
        throw new MalformedBytesException("a reply to " + message.name + " for " + method.name());
      }
      T result = method.result().get();
      result.read(protocol);
      return result;
    } catch (TException | MalformedBytesException e) {
      throw AttemptException.lost(
          server, "the reply to " + method.name() + " makes no sense: " + e.getMessage(), e);
    } finally {
      transport.forget();
    }
  }
}
