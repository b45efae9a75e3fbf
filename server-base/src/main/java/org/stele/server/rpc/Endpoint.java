package org.stele.server.rpc;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.stele.core.time.Clock;

/**
 * What the connections of one server share: limits, clock, counters, and the memory they hold
 * together. Thread-safe.
 */
final class Endpoint {
  private final RpcLimits limits;
  private final Clock clock;
  private final RpcCounters counters;
  private final JunkLog junkLog;
  private final ByteBudget readBudget;
  private final ByteBudget replyBudget;

  /** Connections whose sockets are full. */
  private final Set<Connection> blocked = ConcurrentHashMap.newKeySet();

  /**
   * The one connection that may finish its large frame while there is no room, then the call of
   * that frame until it is answered: without it, many half read frames could wait for each other.
   */
  private final AtomicReference<@Nullable Object> precedence = new AtomicReference<>();

  private final @Nullable TlsHandshakes handshakes;
  private volatile boolean closing;

  /**
   * @param handshakes null: connections are not encrypted
   */
  Endpoint(
      RpcLimits limits,
      Clock clock,
      MethodTable methods,
      WorkerPool users,
      WorkerPool system,
      @Nullable TlsHandshakes handshakes) {
    this.limits = limits;
    this.handshakes = handshakes;
    this.clock = clock;
    junkLog = new JunkLog(clock);
    readBudget = new ByteBudget(limits.readBytes());
    replyBudget = new ByteBudget(limits.replyBytes());
    counters = new RpcCounters(methods, users, system, readBudget, replyBudget);
  }

  RpcLimits limits() {
    return limits;
  }

  Clock clock() {
    return clock;
  }

  RpcCounters counters() {
    return counters;
  }

  JunkLog junkLog() {
    return junkLog;
  }

  ByteBudget readBudget() {
    return readBudget;
  }

  ByteBudget replyBudget() {
    return replyBudget;
  }

  Set<Connection> blocked() {
    return blocked;
  }

  /** Null if connections are not encrypted. */
  @Nullable TlsHandshakes handshakes() {
    return handshakes;
  }

  /** From now on calls are answered UNAVAILABLE. */
  void beginClosing() {
    closing = true;
  }

  boolean isClosing() {
    return closing;
  }

  /**
   * Whether a connection may not be read now. Who gathers a large frame leaves a quarter of the
   * room to those that send small ones.
   *
   * @param more bytes that reading may reserve
   */
  boolean mustWaitForMemory(Connection connection, boolean holdsMuch, int more) {
    if (holdsMuch) {
      return readBudget.isNearlyOver(more) && !takePrecedence(connection);
    }
    return readBudget.isOver(allowance());
  }

  /** What the one with precedence holds above the limit is not a reason for the others to wait. */
  private long allowance() {
    return precedence.get() == null ? 0 : limits.frameMaxBytes();
  }

  /**
   * Whether a call may keep its frame, which is counted already. Small ones leave an eighth of the
   * room, so that there always is some to read into; a large one had to wait for its room before it
   * was read, and takes the precedence of its connection with it.
   *
   * @param large whether the frame was read into an array of its own
   */
  boolean hasRoomFor(Connection connection, Invocation call, boolean large) {
    if (call.isSystem()) {
      return true;
    }
    if (!large) {
      return !readBudget.isAlmostOver(precedence.get() == connection ? 0 : allowance());
    }
    return precedence.compareAndSet(connection, call) || !readBudget.isOver(allowance());
  }

  /** A call is answered. */
  void letFrameGo(Invocation call) {
    readBudget.remove(call.heldBytes());
    if (precedence.get() == call) {
      precedence.compareAndSet(call, null);
    }
  }

  private boolean takePrecedence(Connection connection) {
    return precedence.get() == connection || precedence.compareAndSet(null, connection);
  }

  void giveBackPrecedence(Connection connection) {
    if (precedence.get() == connection) {
      precedence.compareAndSet(connection, null);
    }
  }

  /**
   * Keeps unsent replies within their limit: a connection with a quarter of it must go, and while
   * all together are over it, the one whose waiting costs most: a client that takes a small reply
   * slowly is not cut for those who take nothing of large ones.
   */
  void limitUnsent(Connection connection) {
    if (connection.replies().unsentBytes() > limits.frameMaxBytes() + limits.replyBytes() / 4) {
      giveUp(connection);
    }
    while (replyBudget.isOver()) {
      Connection costliest = null;
      double most = -1;
      for (Connection candidate : blocked) {
        double cost = candidate.replies().waitingCost();
        if (cost > most) {
          costliest = candidate;
          most = cost;
        }
      }
      if (costliest == null) {
        return;
      }
      giveUp(costliest);
    }
  }

  private void giveUp(Connection connection) {
    if (blocked.remove(connection)) {
      counters.stuck.increment();
      junkLog.closed(
          connection.peer(),
          "its client does not take its replies ("
              + connection.replies().unsentBytes()
              + " bytes wait; rpc.reply.bytes is "
              + limits.replyBytes()
              + ")");
      connection.breakOff();
    }
  }
}
