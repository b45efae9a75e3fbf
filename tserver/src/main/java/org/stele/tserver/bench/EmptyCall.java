package org.stele.tserver.bench;

import java.nio.ByteBuffer;
import org.stele.client.cli.CommandFailure;
import org.stele.core.data.Bytes;

/**
 * The call that does nothing: {@code ServerService.ping} with arguments and answer of such a size
 * that a plain Thrift frame has about 100 bytes there and 200 back. The same for all systems.
 */
final class EmptyCall {
  static final int PAYLOAD_BYTES = 80;
  static final int REPLY_BYTES = 180;

  private EmptyCall() {}

  static Bytes payload() {
    return Bytes.wrap(new byte[PAYLOAD_BYTES]);
  }

  static ByteBuffer payloadBuffer() {
    return ByteBuffer.wrap(new byte[PAYLOAD_BYTES]);
  }

  static void check(int replyBytes) {
    if (replyBytes != REPLY_BYTES) {
      throw wrongAnswer(replyBytes);
    }
  }

  /** Tells the end of a call that was not waited for. */
  static void end(int replyBytes, AsyncOperation.End end) {
    if (replyBytes == REPLY_BYTES) {
      end.done();
    } else {
      end.failed(wrongAnswer(replyBytes));
    }
  }

  private static CommandFailure wrongAnswer(int replyBytes) {
    return new CommandFailure("wrong answer: " + replyBytes + " bytes instead of " + REPLY_BYTES);
  }
}
