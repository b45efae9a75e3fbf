package org.stele.client.rpc;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.thrift.TBase;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.stele.core.data.ByteWriter;
import org.stele.core.error.SteleException;
import org.stele.core.wire.CallHeader;
import org.stele.core.wire.ReplyHeader;

/**
 * A server over raw sockets that does what a test tells it to: each call comes to the {@link
 * Handler}, which answers when and how it likes, or not at all. It checks what the client sends:
 * frames, headers, HELLO first.
 */
public final class FakeServer implements AutoCloseable {
  public static final int FRAME_MAX = 48 << 20;

  private final ServerSocket listener;
  private final String instanceId;
  private final Handler handler;
  private final ExecutorService threads = Executors.newCachedThreadPool(FakeServer::thread);
  private final Set<Peer> peers = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger faults = new AtomicInteger();
  private final long bootId = System.identityHashCode(this) | 1L << 40;
  private final AtomicInteger greetingsToIgnore = new AtomicInteger();
  private volatile boolean refusing;

  public FakeServer(String instanceId, Handler handler) {
    this(instanceId, 0, handler);
  }

  public FakeServer(String instanceId, int port, Handler handler) {
    this(instanceId, InetAddress.getLoopbackAddress(), port, handler);
  }

  FakeServer(String instanceId, InetAddress local, int port, Handler handler) {
    this.instanceId = instanceId;
    this.handler = handler;
    try {
      listener = new ServerSocket();
      listener.setReuseAddress(true);
      listener.bind(new InetSocketAddress(local, port), 256);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.execute(this::accept);
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "fake-server");
    thread.setDaemon(true);
    return thread;
  }

  public String address() {
    return "127.0.0.1:" + port();
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** How many connections were made so far. */
  public int accepted() {
    return accepted.get();
  }

  /** How many are open. */
  public int openConnections() {
    return peers.size();
  }

  /** How often the client broke the protocol, or a handler failed. */
  public int faults() {
    return faults.get();
  }

  /** The next so many HELLOs get no answer. */
  public void ignoreGreetings(int count) {
    greetingsToIgnore.set(count);
  }

  /** From now on connections are closed as they come. */
  public void refuse(boolean refuse) {
    refusing = refuse;
  }

  public void closeConnections() {
    peers.forEach(Peer::close);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        accepted.incrementAndGet();
        greetOrRefuse(socket);
      } catch (IOException e) {
        // the listener was closed, or the client left before it was greeted
      }
    }
  }

  private void greetOrRefuse(Socket socket) throws IOException {
    if (refusing) {
      socket.close();
      return;
    }
    Peer peer = new Peer(socket);
    peers.add(peer);
    threads.execute(peer::serve);
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    closeConnections();
    threads.shutdownNow();
  }

  /** Answers calls; called by the thread of the connection. */
  public interface Handler {
    void handle(Request request) throws Exception;
  }

  /** One connection. */
  public final class Peer {
    private final Socket socket;

    Peer(Socket socket) {
      this.socket = socket;
    }

    private void serve() {
      try (DataInputStream in = new DataInputStream(socket.getInputStream())) {
        socket.setTcpNoDelay(true);
        boolean greeted = false;
        while (true) {
          int length = in.readInt();
          if (length < CallHeader.MAGIC / CallHeader.MAGIC || length > FRAME_MAX) {
            throw new IllegalStateException("a frame of " + length);
          }
          byte[] frame = new byte[length];
          in.readFully(frame);
          CallHeader header = new CallHeader();
          int offset = header.decode(frame, 0, length);
          if (header.has(CallHeader.HELLO)) {
            greet(header);
            greeted = true;
          } else if (greeted) {
            handler.handle(new Request(this, header, frame, offset));
          } else {
            throw new IllegalStateException("a call before HELLO");
          }
        }
      } catch (EOFException | java.net.SocketException e) {
        // the client left, or the test closed the connection
      } catch (Exception e) {
        faults.incrementAndGet();
      } finally {
        close();
        peers.remove(this);
      }
    }

    private void greet(CallHeader header) throws IOException {
      if (greetingsToIgnore.getAndDecrement() > 0) {
        return;
      }
      ByteWriter out = new ByteWriter().writeInt(0);
      ReplyHeader.encodeHello(
          out,
          header.callId(),
          bootId,
          System.nanoTime(),
          CallHeader.VERSION,
          0,
          FRAME_MAX,
          instanceId);
      sendFrame(out);
    }

    private void sendFrame(ByteWriter out) throws IOException {
      out.setInt(0, out.length() - 4);
      write(out.toByteArray());
    }

    /** Writes bytes as they are. */
    public void write(byte[] bytes) throws IOException {
      synchronized (this) {
        OutputStream stream = socket.getOutputStream();
        stream.write(bytes);
        stream.flush();
      }
    }

    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** A call. */
  public final class Request {
    public final Peer peer;
    public final CallHeader header;
    public final String method;
    private final TCompactProtocol protocol;

    Request(Peer peer, CallHeader header, byte[] frame, int offset) throws TException {
      this.peer = peer;
      this.header = header;
      this.protocol =
          new TCompactProtocol(new TMemoryInputTransport(frame, offset, frame.length - offset));
      this.method = protocol.readMessageBegin().name;
    }

    public <A extends TBase<?, ?>> A arguments(A empty) throws TException {
      empty.read(protocol);
      return empty;
    }

    public void reply(TBase<?, ?> result) throws Exception {
      peer.write(replyFrame(result));
    }

    /** The whole frame of a reply, with its length. */
    public byte[] replyFrame(TBase<?, ?> result) throws Exception {
      TMemoryBuffer message = new TMemoryBuffer(256);
      TCompactProtocol out = new TCompactProtocol(message);
      out.writeMessageBegin(new TMessage(method, TMessageType.REPLY, 1));
      result.write(out);
      out.writeMessageEnd();
      ByteWriter frame = new ByteWriter().writeInt(0);
      ReplyHeader.encode(frame, header.callId(), bootId, System.nanoTime());
      frame.writeBytes(message.getArray(), 0, message.length());
      frame.setInt(0, frame.length() - 4);
      return frame.toByteArray();
    }

    public void refuse(SteleException error) throws Exception {
      ByteWriter frame = new ByteWriter().writeInt(0);
      ReplyHeader.encodeRefused(frame, header.callId(), bootId, System.nanoTime(), error);
      peer.sendFrame(frame);
    }

    /** The deadline, from now, in nanoseconds. */
    public long leftNanos() {
      return header.deadlineNanos() - System.nanoTime();
    }

    /** Whether the deadline is on this server's clock. */
    public boolean hasDeadline() {
      return header.has(CallHeader.DEADLINE) && header.bootId() == bootId;
    }
  }
}
