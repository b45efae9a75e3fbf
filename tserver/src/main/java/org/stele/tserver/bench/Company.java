package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.apache.thrift.TException;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * Connections that a server has beside those of its callers. A third says nothing, a third greets
 * as a client of Stele and is idle then, a third sends a call a byte each second; the thread {@code
 * bench-slow} does that. The thread {@code bench-junk} connects all the time and says what no
 * client says.
 */
final class Company implements AutoCloseable {
  private static final long BYTE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long JUNK_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final byte[] JUNK = "GET / HTTP/1.1\r\n\r\n".getBytes(ISO_8859_1);

  /** A connection with junk waits at most 30 s for its end. */
  private static final long JOIN_MILLIS = 40_000;

  private final InetSocketAddress server;
  private final List<SocketChannel> idle = new ArrayList<>();
  private final List<SocketChannel> slow = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final LongAdder junkConnections = new LongAdder();
  private volatile boolean leaving;

  /** Why there is no more junk: the server did not do with it what it should. */
  private volatile @Nullable CommandFailure failure;

  private Company(InetSocketAddress server) {
    this.server = server;
  }

  /** What it was at its end. */
  record Count(int connections, int lost, long junk) {}

  /**
   * Connects.
   *
   * @param connections how many
   * @param junk whether there is a flood of others that talk nonsense
   */
  static Company gather(InetSocketAddress server, int connections, boolean junk) {
    Company company = new Company(server);
    try {
      company.connect(connections);
      byte[] call = PlainConnection.ping(0, 1);
      if (!company.slow.isEmpty()) {
        company.start("bench-slow", () -> company.trickle(call));
      }
      if (junk) {
        company.start("bench-junk", company::flood);
      }
      return company;
    } catch (IOException | TException e) {
      company.close();
      throw new CommandFailure(
          "cannot make " + connections + " connections beside the callers': " + e.getMessage(), e);
    }
  }

  private void connect(int connections) throws IOException {
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = SocketChannel.open();
      (i % 3 == 2 ? slow : idle).add(channel);
      channel.setOption(StandardSocketOptions.SO_LINGER, 0); // no port is kept waiting
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.connect(server);
      if (i % 3 == 1) {
        channel.write(ByteBuffer.wrap(PlainConnection.greeting(i)));
      }
      channel.configureBlocking(false);
    }
  }

  private void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  /** Sends a byte of the call on each slow connection in each second. */
  private void trickle(byte[] call) {
    for (long sent = 0; !leaving; sent++) {
      byte next = call[(int) (sent % call.length)];
      for (int i = 0; i < slow.size() && !leaving; i++) {
        try {
          slow.get(i).write(ByteBuffer.wrap(new byte[] {next}));
        } catch (IOException e) {
          // The server has closed it, which is seen and counted at the end.
          LockSupport.parkNanos(1);
        }
        LockSupport.parkNanos(BYTE_NANOS / slow.size());
      }
    }
  }

  private void flood() {
    while (!leaving) {
      try (PlainConnection connection = PlainConnection.open(server)) {
        connection.send(JUNK, JUNK.length);
        connection.awaitEnd();
        connection.reset();
        junkConnections.increment();
      } catch (IOException | TException e) {
        LockSupport.parkNanos(JUNK_RETRY_NANOS); // nothing can be had for now
      } catch (CommandFailure e) {
        failure = e;
        return;
      }
    }
  }

  /**
   * How many there are, how many of them the server has closed, and how many came with junk.
   *
   * @throws CommandFailure if the server left a connection with junk open
   */
  Count count() {
    CommandFailure failed = failure;
    if (failed != null) {
      throw failed;
    }
    int lost = 0;
    for (List<SocketChannel> channels : List.of(idle, slow)) {
      for (SocketChannel channel : channels) {
        lost += isEnded(channel) ? 1 : 0;
      }
    }
    return new Count(idle.size() + slow.size(), lost, junkConnections.sum());
  }

  private static boolean isEnded(SocketChannel channel) {
    ByteBuffer buffer = ByteBuffer.allocate(4096);
    try {
      int read = channel.read(buffer);
      while (read > 0) {
        read = channel.read(buffer.clear());
      }
      return read < 0;
    } catch (IOException e) {
      return true;
    }
  }

  @Override
  public void close() {
    leaving = true;
    IOException notClosed = null;
    for (List<SocketChannel> channels : List.of(idle, slow)) {
      for (SocketChannel channel : channels) {
        try {
          channel.close();
        } catch (IOException e) {
          notClosed = e;
        }
      }
    }
    try {
      for (Thread thread : threads) {
        LockSupport.unpark(thread);
        thread.join(JOIN_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
    if (notClosed != null) {
      throw new CommandFailure("cannot close a connection: " + notClosed.getMessage(), notClosed);
    }
  }
}
