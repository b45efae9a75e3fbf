package org.stele.server.rpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
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
 * Serves a share of the connections on one thread: reads, hands frames to the {@link
 * CallDispatcher}, goes on with replies that a socket did not take, and closes what is late. Never
 * blocks but in select. What goes wrong with one connection closes that connection.
 *
 * <p>Other threads hand it connections ({@link #adopt}) and ask for attention to one ({@link
 * #attend}); they wake it only if it sleeps, and only once.
 */
final class SelectorLoop implements Runnable {
  private static final int READ_BYTES = 128 << 10;
  private static final long MIN_TICK_MILLIS = 20;
  private static final long MAX_TICK_MILLIS = 1000;
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
  private final LongConsumer onTick;
  private final long tickMillis;

  // ---- Used by the selector thread
  private Selector selector;
  private final ReadBuffer readBuffer;
  private final Set<Connection> turnsOver = new LinkedHashSet<>();
  private final Set<Connection> memoryWaiters = new LinkedHashSet<>();
  private @Nullable ReplyScratch scratch;
  private boolean awake;
  private long sleptAtNanos;
  private long wokeAtNanos;
  private long lastTickNanos;

  // ---- Used by all threads
  private final ConcurrentLinkedQueue<SocketChannel> adopted = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Connection> attention = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean asleep = new AtomicBoolean();
  private volatile Phase phase = Phase.SERVING;

  /**
   * @param onTick called about once a second or more often, with the clock's nanoseconds
   */
  SelectorLoop(Endpoint endpoint, CallDispatcher dispatcher, LongConsumer onTick)
      throws IOException {
    this.endpoint = endpoint;
    this.dispatcher = dispatcher;
    this.onTick = onTick;
    selector = Selector.open();
    readBuffer = new ReadBuffer(endpoint.counters());
    RpcLimits limits = endpoint.limits();
    long shortest =
        Math.min(limits.idleNanos(), Math.min(limits.partialNanos(), limits.writeNanos()));
    tickMillis =
        Math.max(MIN_TICK_MILLIS, Math.min(MAX_TICK_MILLIS, shortest / NANOS_PER_MILLI / 4));
    lastTickNanos = endpoint.clock().nanos();
    wokeAtNanos = lastTickNanos;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  CallDispatcher dispatcher() {
    return dispatcher;
  }

  int readBufferBytes() {
    return READ_BYTES;
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
    while (isServing()) {
      runOnce();
    }
    closeAll();
  }

  private boolean isServing() {
    return phase == Phase.SERVING
        || phase == Phase.FINISHING && (!selector.keys().isEmpty() || !adopted.isEmpty());
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
    awake = false;
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
    return phase == Phase.SERVING ? tickMillis : MIN_TICK_MILLIS;
  }

  private boolean hasWork() {
    return !turnsOver.isEmpty()
        || !attention.isEmpty()
        || !adopted.isEmpty()
        || phase == Phase.ENDING;
  }

  private void wake() {
    if (!awake) {
      awake = true;
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
        connection.read(readBuffer, endpoint.clock().nanos());
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
    } catch (CancelledKeyException e) {
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
    if (now - lastTickNanos < tickMillis * NANOS_PER_MILLI) {
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

  private void closeAll() {
    for (SelectionKey key : selector.keys()) {
      ((Connection) key.attachment()).close();
    }
    for (SocketChannel next = adopted.poll(); next != null; next = adopted.poll()) {
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

  /** What this thread reuses. */
  ReplyScratch scratch() {
    ReplyScratch mine = scratch;
    if (mine == null) {
      mine = ReplyScratch.ofThread();
      scratch = mine;
    }
    return mine;
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
        connection, frames.heldBytes() >= READ_BYTES / 2, frames.nextReservation(READ_BYTES));
  }

  /**
   * Where the bytes of one read lie until their frames are taken. The socket reads into a direct
   * buffer; an array would make the JDK do the same behind our back.
   */
  static final class ReadBuffer {
    private final byte[] array = new byte[READ_BYTES];
    private final ByteBuffer direct = ByteBuffer.allocateDirect(READ_BYTES);
    private final RpcCounters counters;

    ReadBuffer(RpcCounters counters) {
      this.counters = counters;
    }

    byte[] array() {
      return array;
    }

    /** One read of at most {@code length} bytes; -1 at the end of the input. */
    int read(SocketChannel channel, int offset, int length) throws IOException {
      direct.clear().limit(length);
      int count = channel.read(direct);
      if (count > 0) {
        counters.bytesRead.add(count);
        direct.flip().get(array, offset, count);
      }
      return count;
    }
  }
}
