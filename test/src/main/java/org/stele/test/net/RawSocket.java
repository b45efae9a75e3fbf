package org.stele.test.net;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a server on the loopback address that carries whatever bytes a test wants. Used
 * by one thread at a time.
 */
public final class RawSocket implements Closeable {
  private static final int CONNECT_MILLIS = 10_000;
  private static final int LENGTH_BYTES = 4;

  /** Not null: all connections that are made from now on are encrypted. */
  private static volatile @Nullable SSLSocketFactory encryption;

  /** What goes over the network. */
  private final Socket network;

  /** The same, or TLS on it. */
  private final Socket socket;

  private RawSocket(Socket network, Socket socket) {
    this.network = network;
    this.socket = socket;
  }

  /** Encrypts all connections that are made from now on; null: none. */
  public static void encryptWith(@Nullable SSLSocketFactory factory) {
    encryption = factory;
  }

  public static RawSocket connect(int port) throws IOException {
    return connect(port, 0);
  }

  /**
   * @param receiveBuffer bytes that the operating system keeps of what comes; 0: as it likes
   */
  public static RawSocket connect(int port, int receiveBuffer) throws IOException {
    Socket socket = new Socket();
    try {
      if (receiveBuffer > 0) {
        socket.setReceiveBufferSize(receiveBuffer);
      }
      socket.setTcpNoDelay(true);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
      SSLSocketFactory factory = encryption;
      return new RawSocket(
          socket, factory == null ? socket : factory.createSocket(socket, "localhost", port, true));
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** host:port of this end, as the server sees it. */
  public String localAddress() {
    return network.getLocalAddress().getHostAddress() + ":" + network.getLocalPort();
  }

  public RawSocket send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** Sends four bytes of length and no more. */
  public RawSocket sendLength(int length) throws IOException {
    return send(ByteBuffer.allocate(LENGTH_BYTES).putInt(length).array());
  }

  /** Sends a message as a frame. */
  public RawSocket sendFrame(byte[] message) throws IOException {
    return send(frame(message));
  }

  /** The message with its length in front. */
  public static byte[] frame(byte[] message) {
    return ByteBuffer.allocate(LENGTH_BYTES + message.length)
        .putInt(message.length)
        .put(message)
        .array();
  }

  /**
   * The next frame, whole.
   *
   * @throws EOFException if the server closed the connection instead
   * @throws SocketTimeoutException if nothing came for so long
   */
  public byte[] readFrame(Duration limit) throws IOException {
    socket.setSoTimeout(Math.toIntExact(limit.toMillis()));
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] message = new byte[in.readInt()];
    in.readFully(message);
    return message;
  }

  /** Sends a message and returns the answer. */
  public byte[] call(byte[] message, Duration limit) throws IOException {
    return sendFrame(message).readFrame(limit);
  }

  /**
   * The next {@code count} bytes.
   *
   * @throws EOFException if the server closed the connection before they came
   * @throws SocketTimeoutException if nothing came for so long
   */
  public byte[] readExactly(int count, Duration limit) throws IOException {
    socket.setSoTimeout(Math.toIntExact(limit.toMillis()));
    byte[] bytes = new byte[count];
    new DataInputStream(socket.getInputStream()).readFully(bytes);
    return bytes;
  }

  /**
   * Reads until the server ends the connection, in order or by a reset.
   *
   * @return what came before
   * @throws SocketTimeoutException if the server stays silent for so long
   */
  public byte[] readToEnd(Duration limit) throws IOException {
    socket.setSoTimeout(Math.toIntExact(limit.toMillis()));
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] buffer = new byte[8 << 10];
    try {
      InputStream in = socket.getInputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        all.write(buffer, 0, count);
      }
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException e) { // a reset is an end too
      return all.toByteArray();
    }
    return all.toByteArray();
  }

  /** Whether the server ends the connection while it may stay silent for {@code limit}. */
  public boolean isEndedWithin(Duration limit) throws IOException {
    try {
      readToEnd(limit);
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  /** Ends our direction; the other goes on. */
  public void shutdownOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Ends the connection with a reset. */
  public void reset() throws IOException {
    network.setSoLinger(true, 0);
    network.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
