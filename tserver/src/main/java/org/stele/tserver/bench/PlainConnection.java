package org.stele.tserver.bench;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.layered.TFramedTransport;
import org.stele.client.cli.CommandFailure;
import org.stele.core.data.ByteWriter;
import org.stele.core.thrift.ServerService;
import org.stele.core.wire.CallHeader;

/**
 * A connection of plain framed Thrift to a server, which can also be ill-used. Used by one thread
 * at a time.
 */
final class PlainConnection implements AutoCloseable {
  private static final int LIMIT_MILLIS = 30_000;

  private final TSocket transport;
  private final Socket socket;
  private final ServerService.Client client;

  private PlainConnection(TSocket transport) throws TException {
    this.transport = transport;
    this.socket = transport.getSocket();
    this.client = new ServerService.Client(new TCompactProtocol(new TFramedTransport(transport)));
  }

  static PlainConnection open(InetSocketAddress server) throws TException {
    TSocket transport =
        new TSocket(TConfiguration.DEFAULT, server.getHostString(), server.getPort(), LIMIT_MILLIS);
    try {
      transport.open();
      return new PlainConnection(transport);
    } catch (TException e) {
      transport.close();
      throw e;
    }
  }

  /** A whole call of {@code ping}, with the length in front. */
  static byte[] ping(int payloadBytes, int replyBytes) throws TException {
    TMemoryBuffer out = new TMemoryBuffer(payloadBytes + 64);
    new ServerService.Client(new TCompactProtocol(new TFramedTransport(out)))
        .send_ping(ByteBuffer.wrap(new byte[payloadBytes]), replyBytes);
    return Arrays.copyOf(out.getArray(), out.length());
  }

  /** What a client of Stele says first, with the length in front. */
  static byte[] greeting(long clientId) {
    ByteWriter out = new ByteWriter();
    out.writeInt(0);
    new CallHeader()
        .reset(0, clientId)
        .setHello(CallHeader.VERSION, CallHeader.VERSION, 0, "")
        .encode(out);
    out.setInt(0, out.length() - Integer.BYTES);
    return out.toByteArray();
  }

  void beginPing(int replyBytes) throws TException {
    client.send_ping(EmptyCall.payloadBuffer(), replyBytes);
  }

  /** Waits for the answer to {@link #beginPing}, and checks it. */
  void endPing(int replyBytes) throws TException {
    int received = client.recv_ping().remaining();
    if (received != replyBytes) {
      throw new CommandFailure("wrong answer: " + received + " bytes instead of " + replyBytes);
    }
  }

  void send(byte[] bytes, int count) throws IOException {
    socket.getOutputStream().write(bytes, 0, count);
  }

  /** Nothing more comes from us; we still read. */
  void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  /**
   * Reads until the server ends the connection, in order or by a reset.
   *
   * @throws CommandFailure if it leaves the connection open
   */
  void awaitEnd() throws IOException {
    byte[] buffer = new byte[1024];
    InputStream in = socket.getInputStream();
    try {
      while (in.read(buffer) >= 0) {
        // until the end
      }
    } catch (SocketTimeoutException e) {
      throw new CommandFailure("the server leaves a connection open that it has to close", e);
    } catch (IOException e) {
      return; // a reset is an end, too
    }
  }

  /** Ends the connection with a reset. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    transport.close();
  }

  @Override
  public void close() {
    transport.close();
  }
}
