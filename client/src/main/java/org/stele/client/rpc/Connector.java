package org.stele.client.rpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.net.TlsContext;
import org.stele.core.time.Clock;
import org.stele.core.wire.ReplyHeader;

/**
 * Makes connections: resolves the name (each time anew), connects, shakes hands if connections are
 * encrypted, and greets. What it opened it closes if any of that fails. Thread-safe; blocks its
 * caller up to the connect timeout.
 */
final class Connector {
  private final RpcOptions options;
  private final Clock clock;
  private final NameResolver names;
  private final Executor resolving;
  private final ThreadFactory ioThreads;
  private final Supplier<String> instanceId;
  private final AtomicInteger numbers = new AtomicInteger();

  /** Names that are being resolved: a thread for each, which cannot be called back. */
  private final ConcurrentHashMap<String, Future<InetAddress>> resolutions =
      new ConcurrentHashMap<>();

  /**
   * @param resolving runs name resolution, which cannot be given a timeout
   * @param instanceId that servers must be of; empty: any
   */
  Connector(
      RpcOptions options,
      Clock clock,
      NameResolver names,
      Executor resolving,
      ThreadFactory ioThreads,
      Supplier<String> instanceId) {
    this.options = options;
    this.clock = clock;
    this.names = names;
    this.resolving = resolving;
    this.ioThreads = ioThreads;
    this.instanceId = instanceId;
  }

  /**
   * @throws AttemptException if there is no connection in time
   * @throws InterruptedException if the thread was interrupted meanwhile
   */
  Connection connect(ServerAddress address, long deadlineNanos) throws InterruptedException {
    String server = address.toString();
    long latest = clock.nanos() + options.connectTimeout().toNanos();
    long end = latest - deadlineNanos < 0 ? latest : deadlineNanos;
    InetSocketAddress target = new InetSocketAddress(resolve(address, end), address.port());
    Patience patience = new Patience(server, end);
    ClientSocket socket = null;
    Connection made = null;
    try {
      socket = ClientSocket.open();
      if (!socket.connect(target, options.localAddress())) {
        while (!socket.finishConnect()) {
          patience.await(socket, "connected");
        }
      }
      TlsContext tls = options.tls();
      if (tls != null) {
        new TlsHandshake(socket, socket.secure(tls, address)).shake(patience);
      }
      ReplyReader reader = new ReplyReader(options.maxReplyBytes());
      ReplyHeader answer =
          new Greeting(server, socket, reader, options.clientId(), instanceId.get())
              .exchange(patience);
      made =
          new Connection(
              server, numbers.incrementAndGet(), clock, ioThreads, socket, reader, answer);
      return made;
    } catch (SSLException e) {
      throw TlsHandshake.denied(server, e);
    } catch (IOException | MalformedBytesException e) {
      throw AttemptException.notSent(server, "no connection: " + e, e);
    } finally {
      if (made == null && socket != null) {
        socket.close();
      }
    }
  }

  /** Asks anew, or waits for the answer if the same name is asked for at the moment. */
  private InetAddress resolve(ServerAddress address, long endNanos) throws InterruptedException {
    String server = address.toString();
    try {
      return resolution(address.host())
          .get(Math.max(0, endNanos - clock.nanos()), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      throw AttemptException.notSent(server, "the client is closed", e);
    } catch (CancellationException e) { // no thread could be started for it
      throw AttemptException.notSent(server, "name " + address.host() + " not resolved", e);
    } catch (ExecutionException e) {
      throw AttemptException.notSent(
          server, "name " + address.host() + " is not known: " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      throw AttemptException.notSent(server, "name " + address.host() + " not resolved in time", e);
    }
  }

  private Future<InetAddress> resolution(String host) {
    FutureTask<InetAddress> begun = new FutureTask<>(() -> names.resolve(host));
    Future<InetAddress> underWay = resolutions.putIfAbsent(host, begun);
    if (underWay != null) {
      return underWay;
    }
    boolean started = false;
    try {
      resolving.execute(
          () -> {
            begun.run();
            resolutions.remove(host, begun);
          });
      started = true;
    } finally {
      if (!started) {
        resolutions.remove(host, begun);
        begun.cancel(false);
      }
    }
    return begun;
  }

  /** Waits while a connection is made, up to the time that there is for it. */
  final class Patience {
    private final String server;
    private final long endNanos;

    private Patience(String server, long endNanos) {
      this.server = server;
      this.endNanos = endNanos;
    }

    /** Waits for what the socket awaits. */
    void await(ClientSocket socket, String what) throws IOException, InterruptedException {
      long left = endNanos - clock.nanos();
      if (left <= 0) {
        throw AttemptException.notSent(
            server,
            "not "
                + what
                + " within "
                + options.connectTimeout().toMillis()
                + " ms or the deadline",
            null);
      }
      socket.await(left);
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted connecting to " + server);
      }
    }
  }
}
