package org.stele.tserver.write;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.Closeable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/**
 * Lets tablet writes into the log as there is memory and room for them, at the {@link Pace} of the
 * memory and of the tablet. A write that may not pass waits here, in order of arrival, until its
 * deadline, then gets BUSY; if too many wait already it gets BUSY at once. A tablet that is slow
 * holds up its own writes only, and leaves half of the places to others. The metadata's writes have
 * a line of their own, which the users' line never holds up.
 *
 * <p>The thread write-admit lets waiting writes in; it sleeps while none waits. Thread-safe; {@link
 * #admit} never blocks for long.
 */
final class Admission implements Closeable {
  private static final int RETRY_AFTER_MILLIS = 100;

  /** Writes to slow tablets get one part in so many of the places. */
  private static final int SHARE_OF_SLOW = 2;

  /** The log makes room after it has told us so, and time passes; look again after this time. */
  private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final long CLOSE_MILLIS = 10_000;

  private final WriteLimits limits;
  private final Clock clock;
  private final WriteCounters counters;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final Deque<Waiting> users = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Deque<Waiting> system = new ArrayDeque<>();

  @GuardedBy("lock")
  private long waitingBytes;

  /** Something was given back since the last look. */
  @GuardedBy("lock")
  private boolean room;

  @GuardedBy("lock")
  private boolean closed;

  /** Writes that wait; changed under the lock, read without. */
  private final AtomicInteger waiting = new AtomicInteger();

  /** Whether one waits for what all share; changed under the lock, read without. */
  private volatile boolean scarce;

  /** A write and whether it has its memory already. */
  private static final class Waiting {
    final TabletWrite write;
    boolean admitted;

    Waiting(TabletWrite write, boolean admitted) {
      this.write = write;
      this.admitted = admitted;
    }
  }

  Admission(WriteLimits limits, Clock clock, WriteCounters counters) {
    this.limits = limits;
    this.clock = clock;
    this.counters = counters;
    this.thread = new Thread(this::run, "write-admit");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  int waiting() {
    return waiting.get();
  }

  /** Lets a write in, or has it wait, or refuses it. */
  void admit(TabletWrite write) {
    Waiting candidate = new Waiting(write, false);
    boolean slow = !write.target().pace().isOpen(clock.nanos());
    if (!slow && !scarce && tryAdmit(candidate)) {
      return;
    }
    if (!await(candidate, slow)) {
      counters.busy().increment();
      refuse(candidate, "too many writes wait already");
    }
  }

  /** Memory may have been given back or the log may have got shorter. */
  void roomAppeared() {
    if (waiting.get() == 0) {
      return;
    }
    lock.lock();
    try {
      room = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  private boolean tryAdmit(Waiting candidate) {
    TabletWrite write = candidate.write;
    WriteTarget target = write.target();
    if (!candidate.admitted) {
      long bytes = write.memoryBytes();
      long now = clock.nanos();
      boolean open = target.isSystem() || target.memory().pace().isOpen(now);
      candidate.admitted = open && target.memory().tryReserve(bytes);
      if (candidate.admitted) {
        target.memory().pace().passed(bytes, now);
        target.pace().passed(bytes, now);
        write.encodeCells();
      }
    }
    return candidate.admitted && target.log().append(write);
  }

  /**
   * Has a write wait; false: too many do.
   *
   * @param slow whether it waits for its tablet, not for what all share
   */
  private boolean await(Waiting candidate, boolean slow) {
    TabletWrite write = candidate.write;
    int share = slow ? SHARE_OF_SLOW : 1;
    lock.lock();
    try {
      boolean full =
          waiting.get() >= limits.waitingWrites() / share
              || waitingBytes + write.bytes() > limits.waitingBytes() / share && waiting.get() > 0;
      if (closed || full && !write.target().isSystem()) {
        return false;
      }
      (write.target().isSystem() ? system : users).addLast(candidate);
      waitingBytes += write.bytes();
      waiting.incrementAndGet();
      scarce |= !slow;
      counters.waited().increment();
      room = true;
      changed.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void refuse(Waiting candidate, String why) {
    SteleException busy =
        SteleException.busy(
            why + " (tablet " + candidate.write.target().tabletId() + ")", RETRY_AFTER_MILLIS);
    if (candidate.admitted) {
      candidate.write.refuse(busy);
    } else {
      candidate.write.refuseUnadmitted(busy);
    }
  }

  private void run() {
    try {
      while (awaitWork()) {
        runOnce();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until a write waits; if some did before, until there may be room. False: closed. */
  private boolean awaitWork() throws InterruptedException {
    lock.lock();
    try {
      long left = LOOK_AGAIN_NANOS;
      while (waiting.get() > 0 && !closed && !room && left > 0) {
        left = changed.awaitNanos(left);
      }
      room = false;
      while (waiting.get() == 0 && !closed) {
        changed.await();
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets in what can be let in, and refuses what has waited until its deadline. By one thread at a
   * time; only it takes writes out of the lines.
   */
  void runOnce() {
    List<Waiting> late = new ArrayList<>();
    List<Waiting> systemLine;
    List<Waiting> usersLine;
    lock.lock();
    try {
      removeLateLocked(system, late);
      removeLateLocked(users, late);
      systemLine = List.copyOf(system);
      usersLine = List.copyOf(users);
    } finally {
      lock.unlock();
    }
    // without the lock: a log that is closed has its callers answered at once
    boolean systemDone = admitAll(systemLine);
    boolean usersDone = admitAll(usersLine);
    lock.lock();
    try {
      boolean joined = scarce && room; // those who joined meanwhile were not looked at
      scarce = !systemDone || !usersDone || joined;
    } finally {
      lock.unlock();
    }
    for (Waiting candidate : late) {
      counters.busy().increment();
      refuse(
          candidate,
          candidate.write.target().pace().isSlow()
              ? "the tablet has too many files, and got no fewer until the deadline"
              : "no memory or no room in the log until the deadline");
    }
  }

  /** Lets in what may pass; false: what all share is used up. */
  private boolean admitAll(List<Waiting> line) {
    long now = clock.nanos();
    for (Waiting next : line) {
      if (next.admitted || next.write.target().pace().isOpen(now)) {
        if (!tryAdmit(next)) {
          return false;
        }
        left(next);
      }
    }
    return true;
  }

  private void left(Waiting candidate) {
    lock.lock();
    try {
      (candidate.write.target().isSystem() ? system : users).remove(candidate);
      leftLocked(candidate);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void removeLateLocked(Deque<Waiting> line, List<Waiting> late) {
    long now = clock.nanos();
    for (Iterator<Waiting> each = line.iterator(); each.hasNext(); ) {
      Waiting candidate = each.next();
      if (now - candidate.write.deadlineNanos() >= 0) {
        each.remove();
        leftLocked(candidate);
        late.add(candidate);
      }
    }
  }

  @GuardedBy("lock")
  private void leftLocked(Waiting candidate) {
    waitingBytes -= candidate.write.bytes();
    waiting.decrementAndGet();
  }

  /** Refuses what waits and ends the thread. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!thread.isAlive()) { // else it may just have put one of them into the log: no word of it
      takeRest().forEach(candidate -> refuse(candidate, "the server is closing"));
    }
  }

  /** What still waits, when the thread that lets it in has ended. */
  private List<Waiting> takeRest() {
    List<Waiting> rest = new ArrayList<>();
    lock.lock();
    try {
      rest.addAll(system);
      rest.addAll(users);
      system.clear();
      users.clear();
      waiting.set(0);
      waitingBytes = 0;
    } finally {
      lock.unlock();
    }
    return rest;
  }
}
