package org.stele.server.rpc;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLException;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.stele.core.data.ByteWriter;
import org.stele.core.net.TestTls;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.MessageHeader;
import org.stele.core.wire.ReplyHeader;
import org.stele.core.wire.StructReader;
import org.stele.core.wire.StructWriter;

/**
 * A socket with frames, headers and messages, each of which the test may spoil; with TLS if the
 * endpoints of the test have it.
 */
final class RawClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 20_000;

  /** What goes over the network. */
  final Socket network = new Socket();

  /** What frames are written to: the same, or TLS on it. */
  final Socket socket;

  final ByteWriter out = new ByteWriter();
  final ReplyHeader reply = new ReplyHeader();
  final MessageHeader message = new MessageHeader();
  private final StructWriter structs = new StructWriter();
  private final DataInputStream in;
  private byte[] frame = new byte[0];
  private int bodyOffset;

  RawClient(InetSocketAddress address) throws IOException {
    this(address, 0);
  }

  RawClient(InetSocketAddress address, int receiveBuffer) throws IOException {
    this(address, receiveBuffer, null);
  }

  /**
   * @param local an address of its own, or null
   */
  RawClient(InetSocketAddress address, int receiveBuffer, InetSocketAddress local)
      throws IOException {
    if (receiveBuffer > 0) {
      network.setReceiveBufferSize(receiveBuffer);
    }
    if (local != null) {
      network.bind(local);
    }
    network.setTcpNoDelay(true);
    network.setSoTimeout(TIMEOUT_MILLIS);
    network.connect(address, TIMEOUT_MILLIS);
    socket = EndpointFixture.kind.isEncrypted() ? TestTls.shared().over(network, null) : network;
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 64 << 10));
  }

  /** Opens a connection with headers. */
  static RawClient greeted(InetSocketAddress address) throws IOException {
    return greeted(new RawClient(address));
  }

  /** Opens a connection with headers from an address of this machine. */
  static RawClient greetedFrom(String local, InetSocketAddress address) throws IOException {
    return greeted(new RawClient(address, 0, new InetSocketAddress(local, 0)));
  }

  private static RawClient greeted(RawClient client) throws IOException {
    client.hello(1, 1, 0, "").flush();
    client.readReply();
    if (!client.reply.isHello()) {
      throw new IOException("no answer to HELLO");
    }
    return client;
  }

  RawClient hello(int lowest, int highest, long features, String instance) {
    int begin = beginFrame();
    new CallHeader().reset(0, 7).setHello(lowest, highest, features, instance).encode(out);
    return endFrame(begin);
  }

  RawClient call(CallHeader header, String method, TBase<?, ?> args) throws TException {
    int begin = beginFrame();
    header.encode(out);
    message(MessageHeader.COMPACT, MessageHeader.CALL, method, 1, args);
    return endFrame(begin);
  }

  RawClient call(long id, String method, TBase<?, ?> args) throws TException {
    return call(new CallHeader().reset(id, 7), method, args);
  }

  RawClient plainCall(int protocol, int type, String method, int sequence, TBase<?, ?> args)
      throws TException {
    int begin = beginFrame();
    message(protocol, type, method, sequence, args);
    return endFrame(begin);
  }

  void message(int protocol, int type, String method, int sequence, TBase<?, ?> args)
      throws TException {
    MessageHeader.encode(out, protocol, type, sequence, method.getBytes(StandardCharsets.UTF_8));
    structs.write(out, protocol, args);
  }

  int beginFrame() {
    int begin = out.length();
    out.writeInt(0);
    return begin;
  }

  RawClient endFrame(int begin) {
    out.setInt(begin, out.length() - begin - 4);
    return this;
  }

  RawClient frame(byte[] payload) {
    out.writeInt(payload.length).writeBytes(payload);
    return this;
  }

  RawClient raw(byte[] bytes) {
    out.writeBytes(bytes);
    return this;
  }

  /** Sends what was gathered. */
  RawClient flush() throws IOException {
    byte[] bytes = out.toByteArray();
    out.clear();
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** What was gathered, which is not sent. */
  byte[] take() {
    byte[] bytes = out.toByteArray();
    out.clear();
    return bytes;
  }

  /** Sends the first bytes of what was gathered. */
  void flushOnly(int count) throws IOException {
    byte[] bytes = out.toByteArray();
    out.clear();
    socket.getOutputStream().write(bytes, 0, Math.min(count, bytes.length));
  }

  /** Reads one frame, which must be there within the socket's timeout. */
  byte[] readFrame() throws IOException {
    frame = new byte[in.readInt()];
    in.readFully(frame);
    return frame;
  }

  /** Reads a frame with header; returns the call id. */
  long readReply() throws IOException {
    readFrame();
    bodyOffset = reply.decode(frame, 0, frame.length);
    if (!reply.isHello() && !reply.isRefused()) {
      message.decode(frame, bodyOffset, frame.length - bodyOffset);
    }
    return reply.callId();
  }

  /** Reads a frame without header. */
  MessageHeader readPlain() throws IOException {
    readFrame();
    message.decode(frame, 0, frame.length);
    return message;
  }

  /**
   * Reads what comes until the server ends the connection, and that is a message without a frame.
   */
  MessageHeader readUnframed() throws IOException {
    frame = in.readAllBytes();
    message.decode(frame, 0, frame.length);
    return message;
  }

  /** Decodes the structure of the frame read last. */
  <T extends TBase<?, ?>> T body(T into) throws TException {
    new StructReader().read(message.protocol(), frame, message.bodyOffset(), frame.length, into);
    return into;
  }

  /** The exception in the frame read last. */
  TApplicationException exception() throws TException {
    if (message.type() != MessageHeader.EXCEPTION) {
      throw new IllegalStateException("message type " + message.type());
    }
    return StructReader.readException(
        message.protocol(), frame, message.bodyOffset(), frame.length);
  }

  InputStream input() {
    return in;
  }

  /** Waits for the server's end of the connection; returns how many bytes came before it. */
  int readToEnd() throws IOException {
    int count = 0;
    try {
      while (in.read() >= 0) {
        count++;
      }
    } catch (SocketException | SSLException e) { // a reset is an end, too
      return count;
    }
    return count;
  }

  /** Closes with RST. */
  void reset() throws IOException {
    network.setSoLinger(true, 0);
    network.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
