package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToDoubleFunction;
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
  private final String role;
  private final int maxThreads;
  private final long idleNanos;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition threadEnded = lock.newCondition();

  @GuardedBy("lock")
  private final CallQueue<Invocation> queue;

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

  @GuardedBy("lock")
  private final RetryTimes retryTimes;

  /** Calls that found no room in the queue, or lost it. */
  private final LongAdder evicted = new LongAdder();

  /** The size of the queue, written under the lock. */
  private volatile int waiting;

  /** Smoothed time that a call takes; races do no harm. */
  private volatile long serviceNanos = 1_000_000;

  /**
   * @param role the name of its threads, before a number
   * @param idleNanos a worker without a call for so long ends
   * @param weights of principals
   */
  WorkerPool(
      String role,
      int maxThreads,
      long idleNanos,
      int maxCalls,
      long maxBytes,
      ToDoubleFunction<Object> weights,
      Clock clock) {
    this.role = role;
    this.maxThreads = maxThreads;
    this.idleNanos = idleNanos;
    this.clock = clock;
    queue = new CallQueue<>(maxCalls, maxBytes, maxThreads, weights);
    retryTimes = new RetryTimes(clock.nanos());
  }

  /** Has the call run, or answers it if there is no room. */
  void submit(Invocation call) {
    List<Invocation> refused = List.of();
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
        refused = new ArrayList<>(1);
        if (workers.isEmpty()) { // no thread could be made, so none would ever come for it
          refused.add(call);
        } else {
          queue.add(call, clock.nanos(), serviceNanos, refused);
          waiting = queue.size();
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
    for (Invocation without : refused) {
      refuseBusy(without, "all " + maxThreads + " workers are busy and the queue is full");
    }
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

  /** Answers a call for which there is no room. */
  void refuseBusy(Invocation call, String why) {
    evicted.increment();
    int retryAfter = retryAfterMillis();
    call.refuse(SteleException.busy(why + "; try again in " + retryAfter + " ms", retryAfter));
  }

  /** Whether a principal has had more of the server than one of those that wait. */
  boolean hasHadMore(Object principal) {
    lock.lock();
    try {
      return queue.hasHadMore(principal);
    } finally {
      lock.unlock();
    }
  }

  /** Charges a principal for a call that ran on another thread while calls waited here. */
  void charge(Object principal, long nanos, long bytesMoved) {
    lock.lock();
    try {
      queue.charge(principal, nanos, bytesMoved);
    } finally {
      lock.unlock();
    }
  }

  private int retryAfterMillis() {
    lock.lock();
    try {
      return retryTimes.next(clock.nanos(), serviceNanos / maxThreads);
    } finally {
      lock.unlock();
    }
  }

  /** Answers the calls whose deadline is over, also while no worker is free. */
  void expire(long now) {
    List<Invocation> expired = new ArrayList<>();
    lock.lock();
    try {
      queue.pollExpired(now, expired);
      waiting = queue.size();
    } finally {
      lock.unlock();
    }
    expired.forEach(Invocation::expire);
  }

  /** How many calls wait. */
  int waiting() {
    return waiting;
  }

  long waitingBytes() {
    lock.lock();
    try {
      return queue.bytes();
    } finally {
      lock.unlock();
    }
  }

  /** Calls that found no room in the queue, or lost it. */
  long evicted() {
    return evicted.sum();
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
    List<Invocation> unserved;
    lock.lock();
    try {
      closed = true;
      unserved = queue.drain();
      waiting = 0;
      for (Worker worker : idle) {
        worker.wake();
      }
      idle.clear();
    } finally {
      lock.unlock();
    }
    unserved.forEach(call -> call.refuse(shuttingDown()));
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
      CallQueue.Taken<Invocation> last = worker.taken;
      if (last != null) {
        queue.ran(last, worker.lastNanos, last.call().bytesMoved());
      }
      worker.taken = queue.poll();
      if (worker.taken != null) {
        waiting = queue.size();
        return worker.taken.call();
      }
      if (closed) {
        return null;
      }
      queue.idle();
      worker.given = null;
      idle.push(worker);
    } finally {
      lock.unlock();
    }
    return worker.await();
  }

  /**
   * Takes an idle worker off the lists; false if it was given a call just now. Off both at once: a
   * call that came between would count on a worker that never comes back.
   */
  private boolean leave(Worker worker) {
    lock.lock();
    try {
      return idle.remove(worker) && workers.remove(worker);
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

    /** The call it is at, if that had to wait. Used by the worker, under the lock. */
    private CallQueue.@Nullable Taken<Invocation> taken;

    /** How long its last call took. */
    private long lastNanos;

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
      lastNanos = clock.nanos() - begin;
      long service = serviceNanos;
      serviceNanos = service + ((lastNanos - service) >> 3);
      Thread.interrupted(); // meant for the call that has ended
    }

    /** Null if no call came for long, or the pool was closed. */
    private @Nullable Invocation await() {
      long since = clock.nanos();
      while (true) {
        LockSupport.parkNanos(this, idleNanos);
        Thread.interrupted();
        Invocation call = given;
        if (call != null) {
          return call;
        }
        if (isClosed() || clock.nanos() - since >= idleNanos && leave(this)) {
          return null;
        }
      }
    }
  }
}
