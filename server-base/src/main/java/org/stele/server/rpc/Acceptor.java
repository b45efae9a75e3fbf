package org.stele.server.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Accepts connections on one thread and hands them to those that serve them. Survives everything:
 * with too many connections or no descriptors left the client gets an end of connection, not
 * silence.
 */
final class Acceptor implements Runnable {
  private static final int BACKLOG = 1024;
  private static final long PAUSE_MILLIS = 100;

  // ---- Constant
  private final ServerSocketChannel channel;
  private final Endpoint endpoint;
  private final ServingThreads threads;

  // ---- Used by the accepting thread
  /**
   * A descriptor to let go when there is no other, so that a connection can be taken and closed.
   */
  private @Nullable SocketChannel reserve;

  // ---- Used by all threads
  private final CountDownLatch closed = new CountDownLatch(1);

  private Acceptor(ServerSocketChannel channel, Endpoint endpoint, ServingThreads threads) {
    this.channel = channel;
    this.endpoint = endpoint;
    this.threads = threads;
  }

  /**
   * Begins to listen.
   *
   * @throws IOException naming the address, if it cannot be listened on
   */
  static Acceptor listen(InetSocketAddress address, Endpoint endpoint, ServingThreads threads)
      throws IOException {
    if (address.isUnresolved()) {
      throw new IOException(
          "cannot listen on "
              + address.getHostString()
              + ":"
              + address.getPort()
              + ": the host is not known (rpc.bind.address)");
    }
    // the JDK's code that closes sockets itself takes descriptors when it is first used
    SocketChannel.open().close();
    ServerSocketChannel channel = ServerSocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(address, BACKLOG);
      return new Acceptor(channel, endpoint, threads);
    } catch (IOException e) {
      channel.close();
      throw new IOException(
          "cannot listen on "
              + address.getHostString()
              + ":"
              + address.getPort()
              + " (rpc.bind.address, rpc.port): "
              + e.getMessage(),
          e);
    }
  }

  InetSocketAddress address() throws IOException {
    return (InetSocketAddress) channel.getLocalAddress();
  }

  @Override
  public void run() {
    try {
      openReserve();
      while (acceptOne()) {
        openReserve();
      }
    } finally {
      close();
      closeReserve();
    }
  }

  /** False when this is closed. */
  boolean acceptOne() {
    try {
      deal(channel.accept());
      return true;
    } catch (ClosedChannelException e) {
      return false;
    } catch (Throwable e) { // no descriptors, no memory: nothing may end this thread
      report(e);
      return turnAwayOne();
    }
  }

  private void deal(SocketChannel connection) {
    RpcCounters counters = endpoint.counters();
    if (counters.connections.incrementAndGet() > endpoint.limits().connections()) {
      counters.connections.decrementAndGet();
      turnAway(
          connection,
          "there are rpc.connections (" + endpoint.limits().connections() + ") already");
      return;
    }
    counters.accepted.increment();
    threads.adopt(connection);
  }

  private void turnAway(SocketChannel connection, String reason) {
    endpoint.counters().refusedConnections.increment();
    try (connection) {
      if (connection.getRemoteAddress() instanceof InetSocketAddress peer) {
        endpoint.junkLog().closed(peer, reason);
      }
    } catch (IOException e) { // gone already
      endpoint.counters().acceptFailures.increment();
    }
  }

  /** Without descriptors, gives up the spare one for a moment to end the waiting connection. */
  private boolean turnAwayOne() {
    if (reserve != null) {
      try {
        reserve.close();
        reserve = null;
        SocketChannel connection = channel.accept();
        openReserve();
        if (reserve != null) { // meanwhile there are some
          deal(connection);
        } else {
          turnAway(connection, "the process has no more file descriptors");
        }
        return true;
      } catch (ClosedChannelException e) {
        return false;
      } catch (Throwable e) { // not even that: pause
        report(e);
      }
    }
    return pause();
  }

  /** So that a failure that lasts does not keep a processor busy; false when this is closed. */
  private boolean pause() {
    try {
      return !closed.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void closeReserve() {
    try {
      if (reserve != null) {
        reserve.close();
      }
    } catch (IOException e) { // a socket that was never connected
      endpoint.counters().acceptFailures.increment();
    }
  }

  private void openReserve() {
    if (reserve == null) {
      try {
        reserve = SocketChannel.open();
      } catch (IOException | OutOfMemoryError e) { // the next round tries again
        endpoint.counters().acceptFailures.increment();
      }
    }
  }

  private void report(Throwable failure) {
    endpoint.counters().acceptFailures.increment();
    try {
      endpoint.junkLog().failed("Cannot accept a connection", failure);
    } catch (Throwable e) { // no memory to tell: the counter has it
      endpoint.counters().acceptFailures.increment();
    }
  }

  /** Ends accepting. Idempotent. */
  void close() {
    closed.countDown();
    try {
      channel.close();
    } catch (IOException e) {
      endpoint.counters().acceptFailures.increment();
    }
  }
}
