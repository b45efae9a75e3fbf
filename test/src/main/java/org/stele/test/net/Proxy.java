package org.stele.test.net;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * Stands between clients and a server on the loopback address and forwards bytes, unless told to
 * hold, delay or cut them. Thread-safe; close ends all of it.
 */
public final class Proxy implements Closeable {
  private final ServerSocket listener;
  private volatile InetSocketAddress target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final List<Long> acceptNanos = new CopyOnWriteArrayList<>();
  private volatile boolean holdReplies;
  private volatile int replyBytes = Integer.MAX_VALUE;
  private volatile boolean refuse;
  private volatile boolean silent;
  private volatile long delayMillis;
  private volatile Disturbance disturbance = () -> 0;

  /** Asked for each piece of bytes from the server. Thread-safe. */
  @FunctionalInterface
  public interface Disturbance {
    /** The connection is reset instead, and the bytes are lost. */
    long CUT = -1;

    /** How many milliseconds the bytes are kept back, or {@link #CUT}. */
    long next();
  }

  public Proxy(InetSocketAddress target) throws IOException {
    this(InetAddress.getLoopbackAddress(), target);
  }

  /**
   * @param address where it listens, on a free port
   */
  public Proxy(InetAddress address, InetSocketAddress target) throws IOException {
    this.target = target;
    listener = new ServerSocket(0, 512, address);
    start("proxy-accept", this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  public void target(InetSocketAddress address) {
    target = address;
  }

  /** Whether bytes from the server are kept back; they go on when this is set to false. */
  public void holdReplies(boolean hold) {
    holdReplies = hold;
  }

  /** Keeps everything back that the server sends behind the first bytes of each connection. */
  public void holdRepliesAfter(int bytes) {
    replyBytes = bytes;
  }

  /** Whether new connections are closed at once. */
  public void refuse(boolean value) {
    refuse = value;
  }

  /**
   * From now on nothing passes, not even the end of a connection, and new connections are taken and
   * left alone: so the network is to clients of a host that has vanished, or hangs.
   */
  public void fallSilent() {
    silent = true;
  }

  /** Each piece of bytes, in both directions, is kept back so long. */
  public void delay(long millis) {
    delayMillis = millis;
  }

  public void disturb(Disturbance newDisturbance) {
    disturbance = newDisturbance;
  }

  /** Connections taken so far. */
  public long accepted() {
    return acceptNanos.size();
  }

  /** When each connection came, by {@link System#nanoTime}. */
  public List<Long> acceptNanos() {
    return List.copyOf(acceptNanos);
  }

  /** Cuts all connections with a reset. */
  public void cutAll() {
    for (Socket socket : sockets) {
      reset(socket);
    }
  }

  private void accept() throws IOException {
    while (!listener.isClosed()) {
      Socket client = listener.accept();
      acceptNanos.add(System.nanoTime());
      if (refuse) {
        client.close();
        continue;
      }
      sockets.add(client);
      if (silent) {
        continue;
      }
      Socket server = new Socket();
      try {
        server.connect(target, 5_000);
      } catch (IOException e) {
        reset(client);
        continue;
      }
      sockets.add(server);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      start("proxy-to-server", () -> forward(client, server, false));
      start("proxy-to-client", () -> forward(server, client, true));
    }
  }

  private void forward(Socket from, Socket to, boolean reply) throws IOException {
    byte[] buffer = new byte[64 << 10];
    long forwarded = 0;
    try {
      InputStream in = from.getInputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (silent) {
          continue;
        }
        if (delayMillis > 0) {
          LockSupport.parkNanos(delayMillis * 1_000_000);
        }
        if (reply && isCut()) {
          reset(from);
          reset(to);
          return;
        }
        while (reply && (holdReplies || forwarded + read > replyBytes) && !to.isClosed()) {
          LockSupport.parkNanos(5_000_000);
        }
        to.getOutputStream().write(buffer, 0, read);
        forwarded += read;
      }
      if (!silent) {
        to.shutdownOutput();
      }
    } catch (IOException e) {
      if (!silent) {
        reset(from);
        reset(to);
      }
    }
  }

  private boolean isCut() {
    long millis = disturbance.next();
    if (millis > 0) {
      LockSupport.parkNanos(millis * 1_000_000);
    }
    return millis == Disturbance.CUT;
  }

  private void reset(Socket socket) {
    sockets.remove(socket);
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // It is closed already, which is what was wanted.
      sockets.remove(socket);
    }
  }

  private interface Loop {
    void run() throws IOException;
  }

  private void start(String name, Loop loop) {
    Thread thread =
        new Thread(
            () -> {
              try {
                loop.run();
              } catch (IOException e) {
                if (!listener.isClosed()) {
                  throw new java.io.UncheckedIOException(e);
                }
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cutAll();
  }
}
