package org.stele.server.rpc;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the endpoint has counted since it started. Names are those of {@link #snapshot()}.
 * Thread-safe.
 */
public final class RpcCounters {
  /** Connections accepted. */
  final LongAdder accepted = new LongAdder();

  /** Connections closed as they came, since there were too many or no descriptors. */
  final LongAdder refusedConnections = new LongAdder();

  /** Times that accepting failed. */
  final LongAdder acceptFailures = new LongAdder();

  /** Connections that are open now. */
  final AtomicLong connections = new AtomicLong();

  final LongAdder bytesRead = new LongAdder();
  final LongAdder bytesWritten = new LongAdder();

  /** Times that a connection was not read for want of memory. */
  final LongAdder readWaits = new LongAdder();

  /** Connections closed because what they sent is not this protocol. */
  final LongAdder junk = new LongAdder();

  /** Connections closed by their idle, partial-frame and write deadlines. */
  final LongAdder timedOut = new LongAdder();

  /** Connections closed because their clients do not take their replies. */
  final LongAdder stuck = new LongAdder();

  /** TLS handshakes done. */
  final LongAdder handshakes = new LongAdder();

  /** Connections closed because of their TLS handshake. */
  final LongAdder handshakeFailures = new LongAdder();

  /** Calls of all connections that began, and those of them that have ended. */
  final LongAdder begun = new LongAdder();

  final LongAdder ended = new LongAdder();

  /** Calls begun on selector threads. */
  final LongAdder inline = new LongAdder();

  /** Calls that would have blocked a selector thread and went to a worker. */
  final LongAdder handedOn = new LongAdder();

  final LongAdder busy = new LongAdder();
  final LongAdder expired = new LongAdder();

  /** Calls refused because they are malformed. */
  final LongAdder malformed = new LongAdder();

  /** Calls whose handler failed in a way that is not a typed error. */
  final LongAdder failures = new LongAdder();

  /** Answers to calls that were answered before. */
  final LongAdder answeredTwice = new LongAdder();

  /** Exceptions that a selector loop survived. */
  final LongAdder loopFailures = new LongAdder();

  /** Time that selector threads spent working and waiting. */
  final LongAdder selectorBusyNanos = new LongAdder();

  final LongAdder selectorIdleNanos = new LongAdder();

  private final MethodTable methods;
  private final WorkerPool users;
  private final WorkerPool system;
  private final ByteBudget readBudget;
  private final ByteBudget replyBudget;

  RpcCounters(
      MethodTable methods,
      WorkerPool users,
      WorkerPool system,
      ByteBudget readBudget,
      ByteBudget replyBudget) {
    this.methods = methods;
    this.users = users;
    this.system = system;
    this.readBudget = readBudget;
    this.replyBudget = replyBudget;
  }

  /**
   * All counters by name. For each method that was called {@code rpc.calls.METHOD}, and the
   * histograms {@code rpc.time.METHOD.queue}, {@code .service} and {@code .reply}. docs/metrics.md
   * says what each means.
   */
  public Map<String, Long> snapshot() {
    Map<String, Long> all = new TreeMap<>();
    all.put("rpc.connections", connections.get());
    all.put("rpc.connections.accepted", accepted.sum());
    all.put("rpc.connections.refused", refusedConnections.sum());
    all.put("rpc.connections.junk", junk.sum());
    all.put("rpc.connections.timed.out", timedOut.sum());
    all.put("rpc.connections.stuck", stuck.sum());
    all.put("rpc.accept.failures", acceptFailures.sum());
    all.put("rpc.bytes.read", bytesRead.sum());
    all.put("rpc.bytes.written", bytesWritten.sum());
    all.put("rpc.read.bytes", readBudget.used());
    all.put("rpc.read.waits", readWaits.sum());
    all.put("rpc.reply.bytes", replyBudget.used());
    all.put("rpc.tls.handshakes", handshakes.sum());
    all.put("rpc.tls.handshake.failures", handshakeFailures.sum());
    all.put("rpc.in.flight", inFlight());
    all.put("rpc.inline", inline.sum());
    all.put("rpc.handed.on", handedOn.sum());
    all.put("rpc.busy", busy.sum());
    all.put("rpc.expired", expired.sum());
    all.put("rpc.malformed", malformed.sum());
    all.put("rpc.failures", failures.sum());
    all.put("rpc.answered.twice", answeredTwice.sum());
    all.put("rpc.loop.failures", loopFailures.sum());
    all.put("rpc.selector.busy.permille", selectorBusyPermille());
    all.put("rpc.selector.busy.ms", TimeUnit.NANOSECONDS.toMillis(selectorBusyNanos.sum()));
    all.put("rpc.selector.idle.ms", TimeUnit.NANOSECONDS.toMillis(selectorIdleNanos.sum()));
    all.put("rpc.evicted", users.evicted() + system.evicted());
    all.put("rpc.queue.bytes", users.waitingBytes() + system.waitingBytes());
    all.put("rpc.queue.calls", (long) users.waiting());
    all.put("rpc.queue.system.calls", (long) system.waiting());
    all.put("rpc.workers", (long) users.threads());
    methods.all().forEach(method -> addCalls(all, method));
    return all;
  }

  /** Calls under way; not exact while they come and go. */
  long inFlight() {
    long endedBefore = ended.sum();
    return begun.sum() - endedBefore;
  }

  private static void addCalls(Map<String, Long> all, ServedMethod<?> method) {
    long calls = method.calls.sum();
    if (calls > 0) {
      all.put("rpc.calls." + method.name, calls);
      method.queueTime.addTo(all, "rpc.time." + method.name + ".queue");
      method.serviceTime.addTo(all, "rpc.time." + method.name + ".service");
      method.replyTime.addTo(all, "rpc.time." + method.name + ".reply");
    }
  }

  /** The share of their time in which selector threads work, of 1000, since the start. */
  private long selectorBusyPermille() {
    long busyNanos = selectorBusyNanos.sum();
    long total = busyNanos + selectorIdleNanos.sum();
    return total <= 0 ? 0 : busyNanos * 1000 / total;
  }
}
