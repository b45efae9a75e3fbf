package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.time.Clock;

/**
 * A thread per connection, {@code rpc-connection-N}, each with a {@link SelectorLoop} for itself: a
 * thread that blocks in reading could not be told to write or to close. A thread whose connection
 * has ended waits a few seconds for another one; the last to wait is the first to get one. Their
 * buffers are shared ({@link TurnBuffers.Shared}), so that a thread that waits for its connection
 * holds none.
 *
 * <p>Also owns {@code rpc-expire}, which does what has to be done once a second.
 */
final class ConnectionThreads implements ServingThreads {
  private static final long SPARE_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int MIN_BUFFERS = 4;

  // ---- Constant
  private final Endpoint endpoint;
  private final Supplier<CallDispatcher> dispatchers;
  private final TurnBuffers.Shared buffers;
  private final SelectorLoop ticker;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition threadEnded = lock.newCondition();

  /** The last to become spare is the first to be used. */
  @GuardedBy("lock")
  private final ArrayDeque<Server> spare = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Set<Server> servers = new HashSet<>();

  /** Numbers in use for thread names. */
  @GuardedBy("lock")
  private final BitSet numbers = new BitSet();

  @GuardedBy("lock")
  private @Nullable Thread tickerThread;

  @GuardedBy("lock")
  private boolean finishing;

  /**
   * @param onTick called about once a second or more often, with the clock's nanoseconds
   */
  ConnectionThreads(Endpoint endpoint, Supplier<CallDispatcher> dispatchers, LongConsumer onTick)
      throws IOException {
    this.endpoint = endpoint;
    this.dispatchers = dispatchers;
    int processors = Runtime.getRuntime().availableProcessors();
    buffers = new TurnBuffers.Shared(Math.max(MIN_BUFFERS, 2 * processors), endpoint.counters());
    ticker = SelectorLoop.shared(endpoint, dispatchers.get(), onTick);
  }

  @Override
  public void start() {
    lock.lock();
    try {
      Thread thread = new Thread(ticker, "rpc-expire");
      thread.setDaemon(true);
      tickerThread = thread;
      thread.start();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void adopt(SocketChannel channel) {
    try {
      if (!giveToSpareOrStart(channel)) {
        turnAway(channel, "the server is shutting down");
      }
    } catch (IOException | OutOfMemoryError e) {
      turnAway(channel, "there is no thread for it: " + e.getMessage());
    }
  }

  /** False if no more connections are served. */
  private boolean giveToSpareOrStart(SocketChannel channel) throws IOException {
    Server waiting;
    lock.lock();
    try {
      if (finishing) {
        return false;
      }
      waiting = spare.pollFirst();
      if (waiting == null) {
        startLocked(channel);
        return true;
      }
    } finally {
      lock.unlock();
    }
    waiting.loop.adopt(channel);
    LockSupport.unpark(waiting.thread);
    return true;
  }

  @GuardedBy("lock")
  private void startLocked(SocketChannel channel) throws IOException {
    int number = numbers.nextClearBit(0);
    SelectorLoop loop = SelectorLoop.forOne(endpoint, dispatchers.get(), buffers);
    Server server = new Server(number, loop, channel);
    boolean started = false;
    try {
      server.thread.start();
      started = true;
    } finally {
      if (!started) {
        loop.closeAll();
      }
    }
    numbers.set(number);
    servers.add(server);
  }

  private void turnAway(SocketChannel channel, String reason) {
    RpcCounters counters = endpoint.counters();
    counters.connections.decrementAndGet();
    counters.refusedConnections.increment();
    try (channel) {
      if (channel.getRemoteAddress() instanceof InetSocketAddress peer) {
        endpoint.junkLog().closed(peer, reason);
      }
    } catch (IOException e) { // gone already
      counters.acceptFailures.increment();
    }
  }

  /** Waits for another connection; false if none came for long. */
  private boolean awaitConnection(Server server) {
    lock.lock();
    try {
      if (finishing) {
        return false;
      }
      spare.addFirst(server);
    } finally {
      lock.unlock();
    }
    Clock real = Clock.system();
    long until = real.nanos() + SPARE_NANOS;
    while (!server.loop.isServing()) {
      LockSupport.parkNanos(this, Math.max(1, until - real.nanos()));
      if ((until - real.nanos() <= 0 || isFinishing()) && leave(server)) {
        return false;
      }
    }
    return true;
  }

  /** Whether it is spare no longer, by itself and not by being given a connection. */
  private boolean leave(Server server) {
    lock.lock();
    try {
      return spare.remove(server);
    } finally {
      lock.unlock();
    }
  }

  private boolean isFinishing() {
    lock.lock();
    try {
      return finishing;
    } finally {
      lock.unlock();
    }
  }

  private void ended(Server server) {
    lock.lock();
    try {
      servers.remove(server);
      numbers.clear(server.number);
      threadEnded.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void finish() {
    for (Server server : begunToFinish()) {
      server.loop.finish();
      LockSupport.unpark(server.thread);
    }
    ticker.finish();
  }

  private Set<Server> begunToFinish() {
    lock.lock();
    try {
      finishing = true;
      return Set.copyOf(servers);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void end() {
    for (Server server : begunToFinish()) {
      server.loop.end();
      LockSupport.unpark(server.thread);
    }
    ticker.end();
    if (startedTicker() == null) {
      ticker.run();
    }
  }

  private @Nullable Thread startedTicker() {
    lock.lock();
    try {
      return tickerThread;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void join(long untilNanos) throws InterruptedException {
    Clock real = Clock.system();
    lock.lock();
    try {
      long left = untilNanos - real.nanos();
      while (!servers.isEmpty() && left > 0) {
        left = threadEnded.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
    Thread thread = startedTicker();
    if (thread != null) {
      thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(untilNanos - real.nanos())));
    }
  }

  /** One thread and the loop that it runs. */
  private final class Server implements Runnable {
    final int number;
    final SelectorLoop loop;
    final Thread thread;
    private final SocketChannel first;

    Server(int number, SelectorLoop loop, SocketChannel first) {
      this.number = number;
      this.loop = loop;
      this.first = first;
      thread = new Thread(this, "rpc-connection-" + number);
      thread.setDaemon(true);
    }

    @Override
    public void run() {
      try {
        loop.adopt(first);
        do {
          loop.serve();
        } while (awaitConnection(this));
      } finally {
        loop.closeAll();
        ended(this);
      }
    }
  }
}
