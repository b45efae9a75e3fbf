package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/**
 * Threads for calls that may block. A call goes straight to the worker that was busy last, whose
 * caches are warm; if none is idle to a new one, up to the limit; else it waits in the {@link
 * CallQueue}. A worker that is idle for long ends.
 *
 * <p>Any thread submits; answers to calls that have no room are given outside the lock.
 */
final class WorkerPool {
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MIN_RETRY_MILLIS = 10;
  private static final int MAX_RETRY_MILLIS = 5000;

  private final String role;
  private final int maxThreads;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition threadEnded = lock.newCondition();

  @GuardedBy("lock")
  private final CallQueue queue;

  /** The last to become idle is the first to be woken. */
  @GuardedBy("lock")
  private final ArrayDeque<Worker> idle = new ArrayDeque<>();

  @GuardedBy("lock")
  private final List<Worker> workers = new ArrayList<>();

  /** Numbers in use for thread names. */
  @GuardedBy("lock")
  private final BitSet numbers = new BitSet();

  @GuardedBy("lock")
  private boolean closed;

  /** Smoothed time that a call takes; races do no harm. */
  private volatile long serviceNanos = 1_000_000;

  /**
   * @param role the name of its threads, before a number
   */
  WorkerPool(String role, int maxThreads, int maxCalls, long maxBytes, Clock clock) {
    this.role = role;
    this.maxThreads = maxThreads;
    this.clock = clock;
    queue = new CallQueue(maxCalls, maxBytes);
  }

  /** Has the call run, or answers it if there is no room. */
  void submit(Invocation call) {
    List<Invocation> evicted = List.of();
    Worker woken = null;
    boolean unavailable = false;
    lock.lock();
    try {
      if (closed) {
        unavailable = true;
      } else if (!idle.isEmpty()) {
        woken = idle.pop();
        woken.given = call;
      } else if (workers.size() >= maxThreads || !startLocked(call)) {
        evicted = new ArrayList<>(1);
        if (workers.isEmpty()) { // no thread could be made, so none would ever come for it
          evicted.add(call);
        } else {
          queue.add(call, evicted);
        }
      }
    } finally {
      lock.unlock();
    }
    if (woken != null) {
      woken.wake();
    }
    if (unavailable) {
      call.refuse(shuttingDown());
    }
    refuseBusy(evicted);
  }

  /** Starts a worker with its first call; false if the operating system gives no thread. */
  @GuardedBy("lock")
  private boolean startLocked(Invocation call) {
    int number = numbers.nextClearBit(0);
    Worker worker = new Worker(number, call);
    try {
      worker.thread.start();
    } catch (OutOfMemoryError e) { // no more threads: those that are there go on
      return false;
    }
    numbers.set(number);
    workers.add(worker);
    return true;
  }

  private void refuseBusy(List<Invocation> evicted) {
    if (evicted.isEmpty()) {
      return;
    }
    int retryAfter = retryAfterMillis();
    for (Invocation call : evicted) {
      call.refuse(
          SteleException.busy(
              "all "
                  + maxThreads
                  + " workers are busy and the queue is full; try again in "
                  + retryAfter
                  + " ms",
              retryAfter));
    }
  }

  /** About the time until half of what waits now is done. */
  private int retryAfterMillis() {
    long millis = waiting() * serviceNanos / maxThreads / 2_000_000;
    return (int) Math.max(MIN_RETRY_MILLIS, Math.min(MAX_RETRY_MILLIS, millis));
  }

  /** Answers the calls whose deadline is over, also while no worker is free. */
  void expire(long now) {
    List<Invocation> expired = new ArrayList<>();
    lock.lock();
    try {
      queue.pollExpired(now, expired);
    } finally {
      lock.unlock();
    }
    expired.forEach(Invocation::expire);
  }

  int waiting() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  int threads() {
    lock.lock();
    try {
      return workers.size();
    } finally {
      lock.unlock();
    }
  }

  /** Answers what waits, and lets workers end when they have finished their calls. Idempotent. */
  void close() {
    List<Invocation> waiting = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      for (Invocation call = queue.poll(); call != null; call = queue.poll()) {
        waiting.add(call);
      }
      for (Worker worker : idle) {
        worker.wake();
      }
      idle.clear();
    } finally {
      lock.unlock();
    }
    waiting.forEach(call -> call.refuse(shuttingDown()));
  }

  /** Interrupts workers that are still at their last call. */
  void interrupt() {
    lock.lock();
    try {
      workers.forEach(worker -> worker.thread.interrupt());
    } finally {
      lock.unlock();
    }
  }

  /** After {@link #close}: waits until all workers have ended; false if the time was too short. */
  boolean awaitEnd(long nanos) throws InterruptedException {
    long left = nanos;
    lock.lock();
    try {
      while (!workers.isEmpty()) {
        if (left <= 0) {
          return false;
        }
        left = threadEnded.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  static SteleException shuttingDown() {
    return new SteleException(ErrorCode.UNAVAILABLE, "the server is shutting down");
  }

  /** The call that this worker does next, or null if it is to end. */
  private @Nullable Invocation next(Worker worker) {
    lock.lock();
    try {
      Invocation call = queue.poll();
      if (call != null || closed) {
        return call;
      }
      worker.given = null;
      idle.push(worker);
    } finally {
      lock.unlock();
    }
    return worker.await();
  }

  /** Takes an idle worker off the list; false if it was given a call just now. */
  private boolean leave(Worker worker) {
    lock.lock();
    try {
      return idle.remove(worker);
    } finally {
      lock.unlock();
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  private void ended(Worker worker) {
    lock.lock();
    try {
      workers.remove(worker);
      numbers.clear(worker.number);
      threadEnded.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private final class Worker implements Runnable {
    final int number;
    final Thread thread;

    /** The next call, handed over by {@link #submit}; null while idle. */
    private volatile @Nullable Invocation given;

    Worker(int number, Invocation first) {
      this.number = number;
      given = first;
      thread = new Thread(this, role + "-" + number);
      thread.setDaemon(true);
    }

    void wake() {
      LockSupport.unpark(thread);
    }

    @Override
    public void run() {
      try {
        for (Invocation call = given; call != null; call = next(this)) {
          work(call);
        }
      } finally {
        ended(this);
      }
    }

    private void work(Invocation call) {
      long begin = clock.nanos();
      call.runOnWorker(begin);
      long service = serviceNanos;
      serviceNanos = service + ((clock.nanos() - begin - service) >> 3);
      Thread.interrupted(); // meant for the call that has ended
    }

    /** Null if no call came for long, or the pool was closed. */
    private @Nullable Invocation await() {
      long since = clock.nanos();
      while (true) {
        LockSupport.parkNanos(this, IDLE_NANOS);
        Thread.interrupted();
        Invocation call = given;
        if (call != null) {
          return call;
        }
        if (isClosed() || clock.nanos() - since >= IDLE_NANOS && leave(this)) {
          return null;
        }
      }
    }
  }
}
