package org.stele.client.rpc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteWriter;
import org.stele.core.error.ErrorCode;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.ReplyHeader;

/**
 * The first exchange on a connection: HELLO, by which both sides agree on the header's version and
 * on the instance. Used once, by the thread that makes the connection.
 */
final class Greeting {
  private final String server;
  private final ClientSocket socket;
  private final ReplyReader reader;
  private final ByteBuffer hello;

  /**
   * @param instanceId that the server must be of; empty: any
   */
  Greeting(
      String server, ClientSocket socket, ReplyReader reader, long clientId, String instanceId) {
    this.server = server;
    this.socket = socket;
    this.reader = reader;
    ByteWriter out = new ByteWriter();
    out.writeInt(0);
    new CallHeader()
        .reset(0, clientId)
        .setHello(CallHeader.VERSION, CallHeader.VERSION, 0, instanceId)
        .encode(out);
    out.setInt(0, out.length() - Integer.BYTES);
    this.hello = ByteBuffer.wrap(out.toByteArray());
  }

  /**
   * Sends HELLO and reads the answer.
   *
   * @throws AttemptException if the server refuses, or there is no answer in time
   * @throws IOException if the other side is no Stele server
   */
  ReplyHeader exchange(Connector.Patience patience) throws IOException, InterruptedException {
    socket.awaits(SelectionKey.OP_WRITE);
    while (hello.hasRemaining() || !socket.link().flush()) {
      if (socket.link().write(hello) == 0) {
        patience.await(socket, "greeted");
      }
    }
    socket.awaits(SelectionKey.OP_READ);
    List<byte[]> frames = new ArrayList<>(1);
    while (frames.isEmpty()) {
      patience.await(socket, "greeted");
      reader.read(socket.link(), frames);
    }
    ReplyHeader answer = new ReplyHeader();
    answer.decode(frames.get(0), 0, frames.get(0).length);
    if (answer.isRefused() && answer.refusal().code() == ErrorCode.DENIED) {
      throw AttemptException.replied(server, answer.refusal());
    }
    if (answer.isRefused()) {
      throw AttemptException.notSent(
          server,
          "the server refuses the connection: " + answer.refusal().getMessage(),
          answer.refusal());
    }
    if (!answer.isHello() || answer.version() != CallHeader.VERSION || frames.size() != 1) {
      throw new IOException("the server does not greet as Stele servers do");
    }
    return answer;
  }
}
