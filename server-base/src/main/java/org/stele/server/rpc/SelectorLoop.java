package org.stele.server.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Serves connections on one thread: reads, hands frames to the {@link CallDispatcher}, goes on with
 * replies that a socket did not take, and closes what is late. Never blocks but in select. What
 * goes wrong with one connection closes that connection.
 *
 * <p>A loop serves a share of all connections, or one after the other ({@link #forOne}).
 *
 * <p>Other threads hand it connections ({@link #adopt}) and ask for attention to one ({@link
 * #attend}); they wake it only if it sleeps, and only once.
 */
final class SelectorLoop implements Runnable {
  static final LongConsumer NO_TICK = now -> {};

  private static final long MIN_TICK_MILLIS = 20;
  private static final long MAX_TICK_MILLIS = 1000;

  /** Where thousands of threads sleep, each for one connection: each tick costs. */
  private static final long MAX_REST_MILLIS = 5000;

  private static final long MEMORY_WAIT_MILLIS = 10;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private enum Phase {
    SERVING,
    /** Connections are closed as they become quiet. */
    FINISHING,
    /** Connections are closed at once. */
    ENDING
  }

  // ---- Constant
  private final Endpoint endpoint;
  private final CallDispatcher dispatcher;
  private final TurnBuffers.Source buffers;
  private final LongConsumer onTick;
  private final boolean forOne;
  private final long tickMillis;
  private final long restMillis;

  // ---- Used by the selector thread
  private Selector selector;
  private final Set<Connection> turnsOver = new LinkedHashSet<>();
  private final Set<Connection> memoryWaiters = new LinkedHashSet<>();
  private int served;

  /** While awake. */
  private @Nullable TurnBuffers turn;

  private long sleptAtNanos;
  private long wokeAtNanos;
  private long lastTickNanos;

  // ---- Used by all threads
  private final ConcurrentLinkedQueue<SocketChannel> adopted = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Connection> attention = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean asleep = new AtomicBoolean();
  private volatile Phase phase = Phase.SERVING;

  private SelectorLoop(
      Endpoint endpoint,
      CallDispatcher dispatcher,
      TurnBuffers.Source buffers,
      LongConsumer onTick,
      boolean forOne)
      throws IOException {
    this.endpoint = endpoint;
    this.dispatcher = dispatcher;
    this.buffers = buffers;
    this.onTick = onTick;
    this.forOne = forOne;
    selector = Selector.open();
    RpcLimits limits = endpoint.limits();
    long shortest =
        Math.min(limits.idleNanos(), Math.min(limits.partialNanos(), limits.writeNanos()));
    restMillis = tickMillis(shortest, MAX_REST_MILLIS);
    tickMillis = tickMillis(Math.min(shortest, limits.handshakeNanos()), MAX_TICK_MILLIS);
    lastTickNanos = endpoint.clock().nanos();
    wokeAtNanos = lastTickNanos;
  }

  /**
   * A loop that serves connections until it is told to end.
   *
   * @param onTick called about once a second or more often, with the clock's nanoseconds
   */
  static SelectorLoop shared(Endpoint endpoint, CallDispatcher dispatcher, LongConsumer onTick)
      throws IOException {
    return new SelectorLoop(
        endpoint, dispatcher, new TurnBuffers.Own(endpoint.counters()), onTick, false);
  }

  /** A loop whose {@link #serve} ends with its connection. */
  static SelectorLoop forOne(
      Endpoint endpoint, CallDispatcher dispatcher, TurnBuffers.Source buffers) throws IOException {
    return new SelectorLoop(endpoint, dispatcher, buffers, NO_TICK, true);
  }

  Endpoint endpoint() {
    return endpoint;
  }

  CallDispatcher dispatcher() {
    return dispatcher;
  }

  private static long tickMillis(long shortestNanos, long most) {
    return Math.max(MIN_TICK_MILLIS, Math.min(most, shortestNanos / NANOS_PER_MILLI / 4));
  }

  // ---- Any thread

  /** Takes a connection over; it is counted already. */
  void adopt(SocketChannel channel) {
    adopted.add(channel);
    wakeUp();
  }

  /** Has {@link Connection#goOn} called soon. */
  void attend(Connection connection) {
    if (connection.attentionAsked().compareAndSet(false, true)) {
      attention.add(connection);
      wakeUp();
    }
  }

  /** Closes connections as they become quiet, and ends when none is left. */
  void finish() {
    phase = Phase.FINISHING;
    wakeUp();
  }

  /** Closes all connections and ends. */
  void end() {
    phase = Phase.ENDING;
    wakeUp();
  }

  private void wakeUp() {
    if (asleep.get() && asleep.compareAndSet(true, false)) {
      selector.wakeup();
    }
  }

  // ---- Selector thread

  @Override
  public void run() {
    serve();
    closeAll();
  }

  /** Serves until there is nothing to serve any more. */
  void serve() {
    while (isServing()) {
      runOnce();
    }
    selectNowToDeregister(); // else a closed socket keeps its descriptor
    sleep();
  }

  /** Whether there is something to serve, or will be. */
  boolean isServing() {
    return switch (phase) {
      case SERVING -> !forOne || served > 0 || !adopted.isEmpty();
      case FINISHING -> served > 0 || !adopted.isEmpty();
      case ENDING -> false;
    };
  }

  /** One round: waits for events and handles them. Survives everything. */
  void runOnce() {
    try {
      select();
      adoptAll();
      attendAll();
      goOnAll(turnsOver);
      goOnAll(memoryWaiters);
      tick();
      if (phase == Phase.FINISHING) {
        closeQuiet();
      }
    } catch (IOException | ClosedSelectorException e) {
      report(e);
      rebuild();
    } catch (Throwable e) { // one round must not end all later ones
      report(e);
    }
  }

  private void select() throws IOException {
    sleep();
    sleptAtNanos = endpoint.clock().nanos();
    endpoint.counters().selectorBusyNanos.add(sleptAtNanos - wokeAtNanos);
    if (hasWork()) {
      selector.selectNow(this::handle);
    } else {
      asleep.set(true);
      if (hasWork()) { // came before the mark was seen
        asleep.set(false);
        selector.selectNow(this::handle);
      } else {
        selector.select(this::handle, waitMillis());
      }
    }
    wake();
  }

  private long waitMillis() {
    if (!memoryWaiters.isEmpty()) {
      return MEMORY_WAIT_MILLIS;
    }
    return phase == Phase.SERVING ? tickMillis() : MIN_TICK_MILLIS;
  }

  /** How long deadlines may go unwatched. */
  private long tickMillis() {
    return forOne && areSettled() ? restMillis : tickMillis;
  }

  private boolean areSettled() {
    for (SelectionKey key : selector.keys()) {
      if (!((Connection) key.attachment()).isSettled()) {
        return false;
      }
    }
    return true;
  }

  private boolean hasWork() {
    return !turnsOver.isEmpty()
        || !attention.isEmpty()
        || !adopted.isEmpty()
        || phase == Phase.ENDING;
  }

  private void sleep() {
    TurnBuffers mine = turn;
    if (mine != null) {
      turn = null;
      buffers.giveBack(mine);
    }
  }

  private void wake() {
    if (turn == null) {
      turn = buffers.take();
      asleep.set(false);
      wokeAtNanos = endpoint.clock().nanos();
      endpoint.counters().selectorIdleNanos.add(wokeAtNanos - sleptAtNanos);
    }
  }

  private void handle(SelectionKey key) {
    wake();
    Connection connection = (Connection) key.attachment();
    try {
      int ready = key.readyOps();
      if ((ready & SelectionKey.OP_WRITE) != 0) {
        connection.write();
      }
      if ((ready & SelectionKey.OP_READ) != 0) {
        connection.read(turn().read(), endpoint.clock().nanos());
      }
    } catch (CancelledKeyException | IOException e) { // the client is gone
      dropTurn(connection);
    } catch (Throwable e) { // a fault of ours: it costs this connection, not the others
      report(e);
      dropTurn(connection);
    }
  }

  private void goOn(Connection connection) {
    try {
      connection.goOn(endpoint.clock().nanos());
    } catch (CancelledKeyException | IOException e) {
      dropTurn(connection);
    } catch (Throwable e) { // as above
      report(e);
      dropTurn(connection);
    }
  }

  private void dropTurn(Connection connection) {
    scratch().turnOf = null;
    scratch().clearTurnReplies();
    connection.close();
  }

  private void attendAll() {
    for (Connection next = attention.poll(); next != null; next = attention.poll()) {
      next.attentionAsked().set(false);
      goOn(next);
    }
  }

  private void goOnAll(Set<Connection> waiting) {
    if (!waiting.isEmpty()) {
      Connection[] now = waiting.toArray(Connection[]::new);
      waiting.clear();
      for (Connection connection : now) {
        goOn(connection);
      }
    }
  }

  private void adoptAll() {
    for (SocketChannel next = adopted.poll(); next != null; next = adopted.poll()) {
      served++;
      try {
        next.configureBlocking(false);
        next.setOption(StandardSocketOptions.TCP_NODELAY, true);
        next.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        Connection connection =
            new Connection(next, this, (InetSocketAddress) next.getRemoteAddress());
        connection.registered(next.register(selector, SelectionKey.OP_READ, connection));
      } catch (IOException | RuntimeException e) { // it went as it came
        discard(next);
      }
    }
  }

  private void tick() {
    long now = endpoint.clock().nanos();
    if (now - lastTickNanos < tickMillis() * NANOS_PER_MILLI) {
      return;
    }
    lastTickNanos = now;
    for (SelectionKey key : selector.keys()) {
      ((Connection) key.attachment()).checkDeadlines(now);
    }
    onTick.accept(now);
  }

  private void closeQuiet() {
    for (SelectionKey key : selector.keys()) {
      Connection connection = (Connection) key.attachment();
      if (connection.isQuiet()) {
        connection.close();
      }
    }
    selectNowToDeregister();
  }

  private void selectNowToDeregister() {
    try {
      selector.selectNow(key -> {});
    } catch (IOException e) {
      report(e);
    }
  }

  /** Closes connections and selector; the last thing that a loop does. */
  void closeAll() {
    for (SelectionKey key : selector.keys()) {
      ((Connection) key.attachment()).close();
    }
    for (SocketChannel next = adopted.poll(); next != null; next = adopted.poll()) {
      served++;
      discard(next);
    }
    try {
      selector.close();
    } catch (IOException e) {
      report(e);
    }
  }

  /** A selector that fails is replaced; its connections move to the new one. */
  private void rebuild() {
    try {
      Selector failed = selector;
      Selector fresh = Selector.open();
      for (SelectionKey key : failed.keys()) {
        Connection connection = (Connection) key.attachment();
        if (key.isValid()) {
          int interest = key.interestOps();
          key.cancel();
          connection.registered(connection.channel().register(fresh, interest, connection));
        }
      }
      selector = fresh;
      failed.close();
    } catch (IOException | RuntimeException e) { // the next round tries again
      report(e);
    }
  }

  /** A connection has decided to close. */
  void closed(Connection connection) {
    discard(connection.channel());
  }

  private void discard(SocketChannel channel) {
    served--;
    endpoint.counters().connections.decrementAndGet();
    try {
      channel.close();
    } catch (IOException e) { // closed it is, whatever the operating system says
      endpoint.counters().loopFailures.increment();
    }
  }

  private void report(Throwable failure) {
    endpoint.counters().loopFailures.increment();
    try {
      endpoint.junkLog().failed("The endpoint survived a failure", failure);
    } catch (Throwable e) { // no memory to tell: the counter has it
      endpoint.counters().loopFailures.increment();
    }
  }

  ReadBuffer readBuffer() {
    return turn().read();
  }

  private TurnBuffers turn() {
    TurnBuffers mine = turn;
    if (mine == null) {
      throw new IllegalStateException("connections are worked for while awake only");
    }
    return mine;
  }

  /** What this thread reuses. */
  ReplyScratch scratch() {
    return turn().scratch();
  }

  /** More whole frames are there than one turn takes: others come first. */
  void goOnLater(Connection connection) {
    turnsOver.add(connection);
  }

  /** Tries again when there may be room in the read buffers. */
  void goOnWithMemory(Connection connection) {
    memoryWaiters.add(connection);
  }

  boolean mustWaitForMemory(Connection connection) {
    FrameDecoder frames = connection.frames();
    return endpoint.mustWaitForMemory(
        connection,
        frames.heldBytes() >= ReadBuffer.BYTES / 2,
        frames.nextReservation(ReadBuffer.BYTES));
  }
}
