package org.stele.test.net;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server on the loopback address that does what a test says with each connection, on a thread of
 * its own, and remembers when they came. Thread-safe; close ends all of it.
 */
public final class Listener implements Closeable {
  private final ServerSocket listener;
  private final Behaviour behaviour;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final List<Long> acceptNanos = new CopyOnWriteArrayList<>();

  /** What is done with a connection. */
  @FunctionalInterface
  public interface Behaviour {
    /** When this returns or throws, the connection is closed. */
    void serve(Socket connection) throws IOException;
  }

  public Listener(Behaviour behaviour) throws IOException {
    this.behaviour = behaviour;
    listener = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
    start("listener-accept", this::accept);
  }

  /** Takes connections and closes them at once. */
  public static Listener closing() throws IOException {
    return new Listener(connection -> {});
  }

  /** Takes connections, and whatever comes over them, and says nothing. */
  public static Listener silent() throws IOException {
    return new Listener(
        connection -> {
          byte[] buffer = new byte[4096];
          while (connection.getInputStream().read(buffer) >= 0) {
            // goes on
          }
        });
  }

  public int port() {
    return listener.getLocalPort();
  }

  public String address() {
    return "127.0.0.1:" + port();
  }

  /** When each connection came, by {@link System#nanoTime}. */
  public List<Long> acceptNanos() {
    return List.copyOf(acceptNanos);
  }

  public int accepted() {
    return acceptNanos.size();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket connection = listener.accept();
        acceptNanos.add(System.nanoTime());
        sockets.add(connection);
        start("listener-serve", () -> serve(connection));
      } catch (IOException e) {
        if (!listener.isClosed()) {
          throw new java.io.UncheckedIOException(e);
        }
      }
    }
  }

  private void serve(Socket connection) {
    try (connection) {
      behaviour.serve(connection);
    } catch (IOException e) {
      // The client went first: what it makes of that is what the test asks it for.
      sockets.remove(connection);
    }
    sockets.remove(connection);
  }

  private static void start(String name, Runnable loop) {
    Thread thread = new Thread(loop, name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
