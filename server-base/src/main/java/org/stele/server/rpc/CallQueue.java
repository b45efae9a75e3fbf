package org.stele.server.rpc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Calls that wait for a worker, bounded in count and bytes, in one line for each principal.
 *
 * <p><b>Between principals measured cost decides</b> (start-time fair queueing). Each has a
 * <i>tag</i>: what its calls have cost so far, in nanoseconds of a worker, divided by its weight.
 * The call taken next is of the line with the least tag. When a call is taken its expected cost is
 * added to the tag, and put right when it has run. The tag of the line taken last is the <i>virtual
 * time</i>; who joins begins there, so that nobody saves up a right by being silent, or pays for
 * what he used while nobody waited.
 *
 * <p><b>Within a principal the earliest deadline is next</b>; of two with the same deadline the one
 * whose first attempt is older. A retry keeps its deadline, so it rises.
 *
 * <p><b>When it is full</b> the line with the most in it for its weight gives up its call with the
 * latest deadline, be it the new one; so a principal that has no more than its share of the places
 * loses none. Of two lines with as much in them it is the one whose turn is later. A principal that
 * was refused keeps its tag for a while, as if it were still waiting: when it tries again it comes
 * before those that were served meanwhile, up to a limit.
 *
 * <p>A call that would come last in its line, and at the line's present pace would wait for more
 * than four fifths of the time it has, is not kept at all: it learns at once what it would learn
 * too late, and calls that are taken have time left to be run.
 *
 * <p>Not thread-safe: guarded by its pool's lock. Nothing here is touched by a call that finds an
 * idle worker.
 */
final class CallQueue<C extends CallQueue.Waiting> {
  /** How long a principal that was refused counts as waiting: its next attempt comes within. */
  private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** How far behind the virtual time its tag stays meanwhile. */
  private static final double MAX_LAG_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** How far a principal may be before the others with calls that need no worker. */
  private static final double MAX_LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** What is charged for each byte of a call and its reply. */
  private static final double NANOS_PER_BYTE = 1;

  /** A call's part in the mean of its line. */
  private static final int MEAN_SHIFT = 3;

  /** A call as the queue sees it. */
  interface Waiting {
    long deadlineNanos();

    /** When its client first tried. */
    long firstAttemptNanos();

    /** Bytes that it holds while it waits. */
    int heldBytes();

    /** Who shares with whom: equal for calls of the same principal. */
    Object principal();
  }

  /** A call that was taken, to be charged to its principal when it has run. */
  static final class Taken<C extends Waiting> {
    private final C call;
    private final Line<C> line;
    private final double expectedNanos;

    private Taken(C call, Line<C> line, double expectedNanos) {
      this.call = call;
      this.line = line;
      this.expectedNanos = expectedNanos;
    }

    C call() {
      return call;
    }
  }

  /**
   * @param number in the order of arrival
   */
  private record Place<C extends Waiting>(C call, long number) {}

  /** The calls of one principal. */
  private static final class Line<C extends Waiting> {
    final double weight;
    final long number;
    final TreeSet<Place<C>> places;
    long bytes;
    double tag;
    double meanNanos;
    int running;
    boolean refused;
    long refusedNanos;

    /** The greater of its shares of places and bytes, for its weight. */
    double load;

    Line(double weight, long number, Comparator<Place<C>> urgency) {
      this.weight = weight;
      this.number = number;
      this.places = new TreeSet<>(urgency);
    }

    boolean countsAsWaiting(long now) {
      refused = refused && now - refusedNanos < REFUSED_NANOS;
      return refused;
    }
  }

  private final int maxCalls;
  private final long maxBytes;
  private final int workers;
  private final ToDoubleFunction<Object> weights;
  private final Comparator<Place<C>> urgency = CallQueue::compareUrgency;

  /** Those that have calls here or running, or are to be remembered for other reasons. */
  private final Map<Object, Line<C>> lines = new HashMap<>();

  /** Lines with calls, in the order of their turns. */
  private final TreeSet<Line<C>> turns = new TreeSet<>(CallQueue::compareTurns);

  /** Lines with calls, by what they have here. */
  private final TreeSet<Line<C>> loads = new TreeSet<>(CallQueue::compareLoads);

  private int calls;
  private long bytes;

  /** Of all lines with calls. */
  private double waitingWeight;

  private double virtualNanos;
  private double greatestTag;
  private long lastNumber;

  /**
   * @param workers that take calls
   * @param weights of principals, above 0
   */
  CallQueue(int maxCalls, long maxBytes, int workers, ToDoubleFunction<Object> weights) {
    this.maxCalls = maxCalls;
    this.maxBytes = maxBytes;
    this.workers = workers;
    this.weights = weights;
  }

  /**
   * Adds a call.
   *
   * @param expectedNanos what a call takes on the average
   * @param refused gets the calls that have no room or no chance, maybe this one
   */
  void add(C call, long now, long expectedNanos, List<C> refused) {
    Line<C> line = lines.get(call.principal());
    if (line == null) {
      line = newLine(call.principal(), expectedNanos);
    }
    Place<C> place = new Place<>(call, ++lastNumber);
    if (isHopeless(line, place, now)) {
      refuse(line, call, now, refused);
      return;
    }
    if (line.places.isEmpty()) {
      double from = line.countsAsWaiting(now) ? virtualNanos - MAX_LAG_NANOS : virtualNanos;
      line.tag = Math.max(line.tag, from);
    }
    detach(line);
    line.places.add(place);
    line.bytes += call.heldBytes();
    attach(line);
    calls++;
    bytes += call.heldBytes();
    while (calls > maxCalls || bytes > maxBytes && calls > 1) {
      Line<C> fullest = loads.last();
      refuse(fullest, remove(fullest, fullest.places.last()), now, refused);
    }
  }

  private Line<C> newLine(Object principal, long expectedNanos) {
    Line<C> line = new Line<>(weights.applyAsDouble(principal), ++lastNumber, urgency);
    line.tag = virtualNanos;
    line.meanNanos = expectedNanos;
    lines.put(principal, line);
    return line;
  }

  /** Whether the call comes last and its turn, at the present pace, is too near its deadline. */
  private boolean isHopeless(Line<C> line, Place<C> place, long now) {
    if (line.places.isEmpty() || urgency.compare(place, line.places.last()) < 0) {
      return false;
    }
    double share = line.weight / waitingWeight;
    double wait = line.places.size() * line.meanNanos / (workers * share);
    return wait + wait / 4 > place.call().deadlineNanos() - now;
  }

  private void refuse(Line<C> line, C call, long now, List<C> refused) {
    line.refused = true;
    line.refusedNanos = now;
    refused.add(call);
  }

  /** The call whose turn it is, or null if none waits. */
  @Nullable Taken<C> poll() {
    if (turns.isEmpty()) {
      return null;
    }
    Line<C> line = turns.first();
    virtualNanos = Math.max(virtualNanos, line.tag);
    C call = remove(line, line.places.first());
    line.running++;
    move(line, line.meanNanos);
    return new Taken<>(call, line, line.meanNanos);
  }

  /**
   * Charges a call that has run.
   *
   * @param nanos for which it had a worker
   * @param bytesMoved of the call and its reply
   */
  void ran(Taken<C> taken, long nanos, long bytesMoved) {
    Line<C> line = taken.line;
    double cost = nanos + bytesMoved * NANOS_PER_BYTE;
    line.running--;
    line.meanNanos += (cost - line.meanNanos) / (1 << MEAN_SHIFT);
    move(line, cost - taken.expectedNanos);
  }

  /**
   * Charges a principal for a call that never was here, but ran while calls waited here.
   *
   * @param nanos that it took of a thread
   * @param bytesMoved of the call and its reply
   */
  void charge(Object principal, long nanos, long bytesMoved) {
    double cost = nanos + bytesMoved * NANOS_PER_BYTE;
    Line<C> line = lines.get(principal);
    if (line == null) {
      line = newLine(principal, (long) cost);
    } else if (line.places.isEmpty()) {
      line.tag = Math.max(line.tag, virtualNanos);
    }
    move(line, cost);
  }

  /** Whether a principal has had more than the one that is next, by more than a trifle. */
  boolean hasHadMore(Object principal) {
    Line<C> line = lines.get(principal);
    return line != null
        && !turns.isEmpty()
        && line.tag - turns.first().tag > MAX_LEAD_NANOS / line.weight;
  }

  /** Adds a cost, or takes it back. */
  private void move(Line<C> line, double cost) {
    detach(line);
    line.tag += cost / line.weight;
    greatestTag = Math.max(greatestTag, line.tag);
    attach(line);
  }

  /** A worker found nothing to do: what was used so far is nobody's disadvantage any more. */
  void idle() {
    virtualNanos = Math.max(virtualNanos, greatestTag);
  }

  /** Takes the calls out whose deadline is over, and forgets principals that are gone. */
  void pollExpired(long now, List<C> expired) {
    for (Iterator<Line<C>> all = lines.values().iterator(); all.hasNext(); ) {
      Line<C> line = all.next();
      while (!line.places.isEmpty() && line.places.first().call().deadlineNanos() - now <= 0) {
        expired.add(remove(line, line.places.first()));
      }
      if (line.places.isEmpty()
          && line.running == 0
          && line.tag <= virtualNanos
          && !line.countsAsWaiting(now)) {
        all.remove();
      }
    }
  }

  /** Takes all out, in no order. */
  List<C> drain() {
    List<C> all = new ArrayList<>();
    for (Line<C> line : lines.values()) {
      while (!line.places.isEmpty()) {
        all.add(remove(line, line.places.first()));
      }
    }
    return all;
  }

  private C remove(Line<C> line, Place<C> place) {
    detach(line);
    line.places.remove(place);
    line.bytes -= place.call().heldBytes();
    attach(line);
    calls--;
    bytes -= place.call().heldBytes();
    return place.call();
  }

  /** Before what orders a line changes. */
  private void detach(Line<C> line) {
    if (!line.places.isEmpty()) {
      turns.remove(line);
      loads.remove(line);
      waitingWeight -= line.weight;
    }
  }

  private void attach(Line<C> line) {
    if (!line.places.isEmpty()) {
      double share =
          Math.max((double) line.places.size() / maxCalls, (double) line.bytes / maxBytes);
      line.load = share / line.weight;
      turns.add(line);
      loads.add(line);
      waitingWeight += line.weight;
    }
  }

  int size() {
    return calls;
  }

  long bytes() {
    return bytes;
  }

  /** Principals that are remembered. */
  int principals() {
    return lines.size();
  }

  private static <C extends Waiting> int compareTurns(Line<C> a, Line<C> b) {
    int order = Double.compare(a.tag, b.tag);
    return order != 0 ? order : Long.compare(a.number, b.number);
  }

  private static <C extends Waiting> int compareLoads(Line<C> a, Line<C> b) {
    int order = Double.compare(a.load, b.load);
    return order != 0 ? order : compareTurns(a, b);
  }

  /** Differences, since the clock's numbers may wrap. */
  private static <C extends Waiting> int compareUrgency(Place<C> a, Place<C> b) {
    int order = Long.signum(a.call().deadlineNanos() - b.call().deadlineNanos());
    if (order == 0) {
      order = Long.signum(a.call().firstAttemptNanos() - b.call().firstAttemptNanos());
    }
    return order != 0 ? order : Long.compare(a.number(), b.number());
  }
}
