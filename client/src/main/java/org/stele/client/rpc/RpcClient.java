package org.stele.client.rpc;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.ByteWriter;
import org.stele.core.time.Clock;

/**
 * All connections of a client, and calls over them: one attempt each; whether there is another is
 * for {@link org.stele.client.retry.RetryPolicy} to say. Thread-safe.
 *
 * <p>Threads: {@code stele-client-io-N} per connection that more than one caller uses at a time;
 * {@code stele-client-connect-N} while names are resolved (one per name), or connections for
 * asynchronous calls made (one per connection, however many calls wait for it).
 */
public final class RpcClient implements AutoCloseable {
  /** Of connections for one call, as long as nothing of it was sent. */
  private static final int MAX_TRIES = 3;

  /** Servers not used for so long, which may be gone, are dropped when another is added. */
  private static final long UNUSED_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final RpcOptions options;
  private final Clock clock;
  private final Connector connector;
  private final ExecutorService connecting;
  private final ThreadLocal<Codec> codecs;
  private final ConcurrentHashMap<String, ServerConnections> servers = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * @param instanceId that servers must be of; empty: any
   */
  public RpcClient(RpcOptions options, Clock clock, Supplier<String> instanceId) {
    this(options, clock, NameResolver.system(), instanceId);
  }

  RpcClient(RpcOptions options, Clock clock, NameResolver names, Supplier<String> instanceId) {
    this.options = options;
    this.clock = clock;
    this.connecting = Executors.newCachedThreadPool(threads("stele-client-connect-"));
    this.connector =
        new Connector(options, clock, names, connecting, threads("stele-client-io-"), instanceId);
    this.codecs = ThreadLocal.withInitial(() -> new Codec(options));
  }

  private static ThreadFactory threads(String prefix) {
    AtomicInteger number = new AtomicInteger();
    return work -> {
      Thread thread = new Thread(work, prefix + number.getAndIncrement());
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Calls and waits for the answer.
   *
   * @throws AttemptException if there is none
   * @throws InterruptedException if the thread was interrupted; the call may have been done
   */
  <A, R> R call(String server, Method<A, R> method, A arguments, CallLimits limits)
      throws InterruptedException {
    Codec codec = codecs.get();
    for (int tries = 1; ; tries++) {
      Connection connection = connection(server, limits.deadlineNanos());
      byte[] reply;
      try {
        ByteWriter frame = codec.encode(connection, server, method, arguments, limits);
        reply = connection.call(frame.array(), frame.length(), limits.deadlineNanos());
      } catch (AttemptException e) {
        if (tries < MAX_TRIES
            && !e.isOutcomeUnknown()
            && e.reply() == null
            && !connection.isOpen()) {
          continue; // it was retired or closed between choice and use
        }
        throw e;
      } finally {
        codec.release();
      }
      try {
        return codec.decode(server, method, reply);
      } catch (AttemptException e) {
        if (e.reply() == null) {
          connection.close(e); // it broke the protocol
        }
        throw e;
      }
    }
  }

  private Connection connection(String server, long deadlineNanos) throws InterruptedException {
    while (true) {
      ServerConnections connections = connections(server);
      Connection connection = connections.get(connections.placeOfThisThread(), deadlineNanos);
      if (connection != null) {
        return connection;
      }
    }
  }

  /**
   * Calls without waiting; {@code answer} hears of the answer on a thread of the client, or on this
   * one. Throws nothing: the answer hears of every failure.
   */
  <A, R> void callAsync(
      String server, Method<A, R> method, A arguments, CallLimits limits, Answer<R> answer) {
    send(new AsyncCall<>(codecs, server, method, arguments, limits, answer), 1);
  }

  private void send(AsyncCall<?, ?> call, int tries) {
    Connection connection;
    try {
      ServerConnections connections = connections(call.server());
      int place = connections.placeOfThisThread();
      connection = connections.existing(place);
      if (connection == null) {
        connections.sendWhenConnected(place, call, connecting, () -> sendAgain(call, tries));
        return;
      }
    } catch (RuntimeException | Error e) {
      call.notSent(e);
      return;
    }
    if (!call.send(connection)) {
      sendAgain(call, tries);
    }
  }

  /** The connection was retired or closed between choice and use. */
  private void sendAgain(AsyncCall<?, ?> call, int tries) {
    if (tries < MAX_TRIES) {
      send(call, tries + 1);
    } else {
      call.notSent(
          AttemptException.notSent(
              call.server(), "the connection was closed before the call", null));
    }
  }

  private ServerConnections connections(String server) {
    ServerConnections known = servers.get(server);
    if (known != null && !known.isDropped()) {
      return known;
    }
    if (known != null) {
      servers.remove(server, known);
    }
    if (closed) {
      throw AttemptException.notSent(server, "the client is closed", null);
    }
    ServerAddress address;
    try {
      address = ServerAddress.parse(server);
    } catch (IllegalArgumentException e) {
      throw AttemptException.notSent(server, "malformed address: " + e.getMessage(), e);
    }
    ServerConnections added =
        servers.computeIfAbsent(
            server,
            name ->
                new ServerConnections(
                    address,
                    connector,
                    clock,
                    options.connectionsPerServer(),
                    options.connectTimeout()));
    if (closed) { // maybe after close() went through the others
      added.close();
    }
    servers.values().removeIf(one -> one.dropIfUnusedFor(UNUSED_NANOS));
    return added;
  }

  /** Fails what is under way and ends all threads. Idempotent. */
  @Override
  public void close() {
    closed = true;
    connecting.shutdownNow();
    servers.values().forEach(ServerConnections::close);
  }
}
