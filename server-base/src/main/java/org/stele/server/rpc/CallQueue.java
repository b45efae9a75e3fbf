package org.stele.server.rpc;

import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Calls that wait for a worker, bounded in count and bytes. The one with the earliest deadline is
 * next; of two with the same deadline the one whose first attempt is older. When a call does not
 * fit, those with the latest deadlines go, be it the new one.
 *
 * <p>All calls are of one share; fairness between callers would put several of these side by side
 * behind the same methods. Not thread-safe: guarded by its pool's lock.
 */
final class CallQueue {
  /** Differences, since the clock's numbers may wrap. */
  private static final Comparator<Invocation> URGENCY =
      (a, b) -> {
        int order = Long.signum(a.deadlineNanos() - b.deadlineNanos());
        if (order == 0) {
          order = Long.signum(a.firstAttemptNanos() - b.firstAttemptNanos());
        }
        return order != 0 ? order : Long.compare(a.queueNumber(), b.queueNumber());
      };

  private final int maxCalls;
  private final long maxBytes;
  private final TreeSet<Invocation> calls = new TreeSet<>(URGENCY);
  private long bytes;
  private long lastNumber;

  CallQueue(int maxCalls, long maxBytes) {
    this.maxCalls = maxCalls;
    this.maxBytes = maxBytes;
  }

  /**
   * Adds a call.
   *
   * @param evicted gets the calls that have no room, maybe this one
   */
  void add(Invocation call, List<Invocation> evicted) {
    call.setQueueNumber(++lastNumber);
    calls.add(call);
    bytes += call.frameBytes();
    while (calls.size() > maxCalls || bytes > maxBytes && calls.size() > 1) {
      evicted.add(removed(calls.last()));
    }
  }

  /** The most urgent call, or null if none waits. */
  @Nullable Invocation poll() {
    return calls.isEmpty() ? null : removed(calls.first());
  }

  /** Takes the calls out whose deadline is over. */
  void pollExpired(long now, List<Invocation> expired) {
    while (!calls.isEmpty() && calls.first().deadlineNanos() - now <= 0) {
      expired.add(removed(calls.first()));
    }
  }

  private Invocation removed(Invocation call) {
    calls.remove(call);
    bytes -= call.frameBytes();
    return call;
  }

  int size() {
    return calls.size();
  }

  long bytes() {
    return bytes;
  }
}
