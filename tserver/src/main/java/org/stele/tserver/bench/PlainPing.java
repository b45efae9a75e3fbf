package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.apache.thrift.TException;
import org.stele.core.data.ByteWriter;
import org.stele.core.thrift.ServerService;
import org.stele.core.wire.MessageHeader;
import org.stele.core.wire.StructWriter;

/**
 * The empty call as any Thrift library sends it, over a socket that its owner may treat badly. Used
 * by one thread.
 */
final class PlainPing implements AutoCloseable {
  static final int REPLY_BYTES = 100;
  private static final int LIMIT_MILLIS = 30_000;

  private final Socket socket = new Socket();

  /**
   * @param receiveBuffer of the socket in bytes; 0: the system's
   */
  PlainPing(InetSocketAddress server, int receiveBuffer) throws IOException {
    boolean connected = false;
    try {
      if (receiveBuffer > 0) {
        socket.setReceiveBufferSize(receiveBuffer);
      }
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(LIMIT_MILLIS);
      socket.connect(server, LIMIT_MILLIS);
      connected = true;
    } finally {
      if (!connected) {
        socket.close();
      }
    }
  }

  /** A whole frame. */
  static byte[] frame(int replyBytes) {
    ByteWriter out = new ByteWriter().writeInt(0);
    MessageHeader.encode(
        out, MessageHeader.COMPACT, MessageHeader.CALL, 1, "ping".getBytes(US_ASCII));
    try {
      new StructWriter()
          .write(
              out,
              MessageHeader.COMPACT,
              new ServerService.ping_args().setPayload(new byte[80]).setReplySize(replyBytes));
    } catch (TException e) {
      throw new IllegalStateException("a call cannot be written", e);
    }
    out.setInt(0, out.length() - Integer.BYTES);
    return out.toByteArray();
  }

  void send(byte[] bytes, int count) throws IOException {
    socket.getOutputStream().write(bytes, 0, count);
  }

  /** Sends a call and takes its answer. */
  void call() throws IOException {
    byte[] frame = frame(REPLY_BYTES);
    send(frame, frame.length);
    readReply();
  }

  void readReply() throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    int length = in.readInt();
    if (length < REPLY_BYTES || length > 2 * REPLY_BYTES) {
      throw new IOException("a reply of " + length + " bytes");
    }
    if (in.readNBytes(length).length < length) {
      throw new IOException("a reply that is cut off");
    }
  }

  void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Takes some of what comes. */
  void read(int bytes) throws IOException {
    socket.getInputStream().readNBytes(bytes);
  }

  /** Waits for the end of what comes; returns how many bytes came before it. */
  long readToEnd() throws IOException {
    byte[] buffer = new byte[64 << 10];
    long all = 0;
    for (int count = 0; count >= 0; count = socket.getInputStream().read(buffer)) {
      all += count;
    }
    return all;
  }

  /** Closes with RST. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
