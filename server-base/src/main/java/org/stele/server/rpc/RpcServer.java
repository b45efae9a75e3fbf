package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.settings.ServerType;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.core.time.Clock;

/**
 * The endpoint of a server: accepts connections, reads frames, queues, runs and answers calls. Owns
 * the threads {@code rpc-accept}, {@code rpc-select-N} (or {@code rpc-connection-N}), {@code
 * rpc-worker-N}, {@code rpc-system-N} and {@code rpc-tls-N}.
 *
 * <pre>
 *   Acceptor → ServingThreads: SelectorLoop (Connection, FrameDecoder) → CallDispatcher → [CallQueue, WorkerPool] → handler → ReplyWriter
 * </pre>
 *
 * <p>Thread-safe.
 */
public final class RpcServer implements AutoCloseable {
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long ACCEPT_END_MILLIS = 1000;
  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The system class has this share of the users' workers and queue, beside theirs. */
  private static final int SYSTEM_SHARE = 8;

  private static final int MIN_SYSTEM_WORKERS = 2;
  private static final int MIN_SYSTEM_CALLS = 64;

  private final Settings settings;
  private final Endpoint endpoint;
  private final WorkerPool users;
  private final WorkerPool system;
  private final @Nullable TlsHandshakes handshakes;
  private final ServingThreads threads;

  @GuardedBy("this")
  private @Nullable Acceptor acceptor;

  @GuardedBy("this")
  private @Nullable Thread acceptThread;

  @GuardedBy("this")
  private boolean closed;

  /** Set once. */
  private volatile @Nullable InetSocketAddress address;

  /**
   * @param methods complete: later additions are not seen
   * @param instanceId told to clients, which may expect another one
   * @param bootId random per run of the process: deadlines made for another run are refused
   * @throws IllegalArgumentException if {@code rpc.server.type} is one that is not available
   * @throws IOException if the operating system gives no selector; or naming the file that TLS
   *     cannot use
   */
  public RpcServer(Settings settings, Methods methods, Clock clock, String instanceId, long bootId)
      throws IOException {
    this.settings = settings;
    RpcLimits limits = RpcLimits.of(settings);
    MethodTable table = new MethodTable(methods);
    users =
        new WorkerPool(
            "rpc-worker",
            limits.workers(),
            limits.workerIdleNanos(),
            limits.queueCalls(),
            limits.queueBytes(),
            new Weights(limits.tenantWeights())::of,
            clock);
    system =
        new WorkerPool(
            "rpc-system",
            Math.max(MIN_SYSTEM_WORKERS, limits.workers() / SYSTEM_SHARE),
            limits.workerIdleNanos(),
            Math.max(MIN_SYSTEM_CALLS, limits.queueCalls() / SYSTEM_SHARE),
            limits.queueBytes() / SYSTEM_SHARE,
            principal -> 1,
            clock);
    handshakes = TlsHandshakes.wanted(settings);
    endpoint = new Endpoint(limits, clock, table, users, system, handshakes);
    Supplier<CallDispatcher> dispatchers =
        () -> new CallDispatcher(endpoint, table, users, system, instanceId, bootId);
    threads =
        limits.type() == ServerType.THREADPOOL
            ? new ConnectionThreads(endpoint, dispatchers, this::expire)
            : new SelectorThreads(limits.selectors(), endpoint, dispatchers, this::expire);
  }

  private void expire(long now) {
    users.expire(now);
    system.expire(now);
  }

  /**
   * Listens, and serves from now on.
   *
   * @throws IOException naming address and port, if they cannot be listened on
   */
  public synchronized void start() throws IOException {
    if (acceptor != null || closed) {
      throw new IllegalStateException("an endpoint is started once");
    }
    InetSocketAddress wanted =
        new InetSocketAddress(
            settings.get(StandardSettings.RPC_BIND_ADDRESS),
            settings.get(StandardSettings.RPC_PORT));
    Acceptor listening = Acceptor.listen(wanted, endpoint, threads);
    address = listening.address();
    acceptor = listening;
    threads.start();
    Thread thread = new Thread(listening, "rpc-accept");
    thread.setDaemon(true);
    acceptThread = thread;
    thread.start();
  }

  /** Where it listens, with the real port. */
  public InetSocketAddress address() {
    InetSocketAddress listening = address;
    if (listening == null) {
      throw new IllegalStateException("the endpoint is not started");
    }
    return listening;
  }

  public RpcCounters counters() {
    return endpoint.counters();
  }

  /**
   * Ends within seconds: nothing new is accepted, waiting and later calls are answered UNAVAILABLE,
   * those that run have a grace time, then everything is closed. Idempotent.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    endAccepting();
    endpoint.beginClosing();
    users.close();
    system.close();
    if (handshakes != null) {
      handshakes.close();
    }
    if (acceptor == null) {
      threads.end();
      return;
    }
    threads.finish();
    try {
      endThreads();
    } catch (InterruptedException e) {
      threads.end();
      Thread.currentThread().interrupt();
    }
  }

  /**
   * A thread that waits in accept keeps the port open until it has woken up: who is answered
   * UNAVAILABLE afterwards shall not be able to connect anew.
   */
  @GuardedBy("this")
  private void endAccepting() {
    if (acceptor == null || acceptThread == null) {
      return;
    }
    acceptor.close();
    try {
      acceptThread.join(ACCEPT_END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void endThreads() throws InterruptedException {
    Clock real = Clock.system(); // a bound that no test's clock can stop
    long graceEnd = real.nanos() + GRACE_NANOS;
    boolean ended =
        users.awaitEnd(graceEnd - real.nanos()) && system.awaitEnd(graceEnd - real.nanos());
    if (!ended) {
      users.interrupt();
      system.interrupt();
    }
    threads.join(graceEnd);
    threads.end();
    threads.join(real.nanos() + END_NANOS);
  }
}
