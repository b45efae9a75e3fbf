package org.stele.client.rpc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls under way on a connection, by id. An id is the call's number on the connection above
 * the index of its place, so that a reply finds its call without searching, and a late reply finds
 * another id in the place. Connections count from different numbers, so that a reply that was sent
 * by a wrong one is known for what it is. Guarded by the connection's lock.
 */
final class CallTable {
  static final int MAX_CALLS = 1 << 14;
  private static final int PLACE_BITS = 16;
  private static final int NUMBER_BITS = 32;

  private @Nullable PendingCall[] places = new PendingCall[16];
  private int[] free = new int[16];
  private int freeCount;
  private int used;
  private int size;
  private final long origin;
  private long number;

  /** The first end of an asynchronous call, or earlier; only if {@link #hasAsyncEnd}. */
  private long asyncEndNanos;

  private boolean hasAsyncEnd;

  /**
   * @param connection its number among those of the client
   */
  CallTable(int connection) {
    this.origin = (long) connection << NUMBER_BITS & Long.MAX_VALUE >> PLACE_BITS;
    this.number = origin;
  }

  int size() {
    return size;
  }

  boolean isFull() {
    return size == MAX_CALLS;
  }

  /** Gives the call its id. */
  void add(PendingCall call) {
    int place = freeCount > 0 ? free[--freeCount] : newPlace();
    call.id = ++number << PLACE_BITS | place;
    places[place] = call;
    size++;
  }

  /**
   * As {@link #add}, of a call whose deadline nobody waits for.
   *
   * @return whether its deadline is the first of all such calls
   */
  boolean addAsync(PendingCall call) {
    add(call);
    boolean first = !hasAsyncEnd || call.deadlineNanos - asyncEndNanos < 0;
    if (first) {
      hasAsyncEnd = true;
      asyncEndNanos = call.deadlineNanos;
    }
    return first;
  }

  private int newPlace() {
    if (used == places.length) {
      @Nullable PendingCall[] morePlaces = Arrays.copyOf(places, used * 2);
      free = Arrays.copyOf(free, used * 2);
      places = morePlaces;
    }
    return used++;
  }

  /** Takes a call out; null if it is not (or no more) here. */
  @Nullable PendingCall take(long id) {
    int place = (int) (id & ((1 << PLACE_BITS) - 1));
    PendingCall call = place < used ? places[place] : null;
    if (call == null || call.id != id) {
      return null;
    }
    places[place] = null;
    free[freeCount++] = place;
    size--;
    return call;
  }

  /** Whether a call of this connection ever had the id. */
  boolean wasGiven(long id) {
    long callNumber = id >>> PLACE_BITS;
    return callNumber > origin && callNumber <= number && (id & ((1 << PLACE_BITS) - 1)) < used;
  }

  /** Takes all calls out. */
  List<PendingCall> takeAll() {
    List<PendingCall> all = new ArrayList<>(size);
    for (PendingCall call : places) {
      if (call != null) {
        all.add(call);
      }
    }
    all.forEach(call -> take(call.id));
    return all;
  }

  /** Takes out the asynchronous calls whose deadline is over. */
  List<PendingCall> takeExpiredAsync(long nowNanos) {
    if (!hasAsyncEnd || asyncEndNanos - nowNanos > 0) {
      return List.of();
    }
    List<PendingCall> expired = new ArrayList<>();
    hasAsyncEnd = false;
    for (PendingCall call : places) {
      if (call == null || !call.isAsync()) {
        continue;
      }
      if (call.deadlineNanos - nowNanos <= 0) {
        expired.add(call);
      } else if (!hasAsyncEnd || call.deadlineNanos - asyncEndNanos < 0) {
        hasAsyncEnd = true;
        asyncEndNanos = call.deadlineNanos;
      }
    }
    expired.forEach(call -> take(call.id));
    return expired;
  }

  /** The nanoseconds until an asynchronous call may have expired; MAX_VALUE: there is none. */
  long nanosToAsyncEnd(long nowNanos) {
    return hasAsyncEnd ? Math.max(0, asyncEndNanos - nowNanos) : Long.MAX_VALUE;
  }
}
