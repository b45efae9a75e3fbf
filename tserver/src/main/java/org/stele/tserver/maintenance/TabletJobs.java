package org.stele.tserver.maintenance;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CorruptFileException;
import org.stele.core.time.Clock;
import org.stele.tserver.tablet.LostTabletException;
import org.stele.tserver.tablet.Tablet;

/**
 * One kind of work on tablets, done by threads of its own: for each tablet at most one run at a
 * time, the most urgent tablet first. A run that fails for a reason outside (disk full, metadata
 * not there) is repeated after a time that doubles, and the tablet tells the reason until it
 * succeeds; if the reason is a damaged file, which only an operator can help, those who wait are
 * told at once. A run that fails because metadata gave the tablet to another, or because something
 * is wrong that cannot be, fails the tablet. This is the only place where flushes and compactions
 * are repeated.
 *
 * <p>Thread-safe. The queue is bounded by the number of tablets: one entry for each.
 */
public final class TabletJobs implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(TabletJobs.class);
  private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LAST_RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long CLOSE_MILLIS = 30_000;

  private final String name;
  private final Clock clock;
  private final Job job;
  private final ToLongFunction<Tablet> urgency;
  private final List<Thread> threads = new ArrayList<>();
  private final LongAdder runs = new LongAdder();
  private final LongAdder failures = new LongAdder();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final IdentityHashMap<Tablet, Entry> entries = new IdentityHashMap<>();

  @GuardedBy("lock")
  private boolean closed;

  /** The work itself. */
  @FunctionalInterface
  public interface Job {
    /**
     * Does the work on one tablet; on a worker thread, may block.
     *
     * @return whether there is more to do, now
     */
    boolean run(Tablet tablet) throws IOException;
  }

  /** A tablet with work to do. Guarded by the lock. */
  private static final class Entry {
    final Tablet tablet;

    /** Want a run that has not begun yet. */
    List<CompletableFuture<Void>> waiting = new ArrayList<>();

    /** Want the run that goes on now, or its repetition. */
    List<CompletableFuture<Void>> served = new ArrayList<>();

    boolean requested;
    boolean running;
    int failures;
    long notBeforeNanos;

    Entry(Tablet tablet) {
      this.tablet = tablet;
    }
  }

  /**
   * @param name of the work and, with a number, of its threads
   * @param threadCount 0: only {@link #runOnce} does the work
   * @param urgency of a tablet at the moment; larger is sooner
   */
  public TabletJobs(
      String name, int threadCount, Clock clock, Job job, ToLongFunction<Tablet> urgency) {
    this.name = name;
    this.clock = clock;
    this.job = job;
    this.urgency = urgency;
    for (int i = 0; i < threadCount; i++) {
      Thread thread = new Thread(this::run, name + "-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  public TabletJobs start() {
    threads.forEach(Thread::start);
    return this;
  }

  /** Asks for a run; one request stands for all that come before it begins. */
  public void request(Tablet tablet) {
    lock.lock();
    try {
      if (!closed) {
        entries.computeIfAbsent(tablet, Entry::new).requested = true;
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Asks for a run; the future is done when one that began after this call has succeeded. */
  public CompletableFuture<Void> submit(Tablet tablet) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    lock.lock();
    try {
      if (!closed) {
        Entry entry = entries.computeIfAbsent(tablet, Entry::new);
        entry.requested = true;
        entry.waiting.add(done);
        changed.signal();
        return done;
      }
    } finally {
      lock.unlock();
    }
    done.completeExceptionally(closing());
    return done;
  }

  private SteleException closing() {
    return new SteleException(ErrorCode.UNAVAILABLE, "the server is closing: no more " + name);
  }

  /** Whether a run of the tablet goes on or is due. */
  public boolean isPending(Tablet tablet) {
    lock.lock();
    try {
      return entries.containsKey(tablet);
    } finally {
      lock.unlock();
    }
  }

  /** Tablets with work to do. */
  public int pending() {
    lock.lock();
    try {
      return entries.size();
    } finally {
      lock.unlock();
    }
  }

  public long runs() {
    return runs.sum();
  }

  public long failures() {
    return failures.sum();
  }

  private void run() {
    try {
      while (awaitReady()) {
        runOnce();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until a tablet is ready for a run; false: closed. */
  private boolean awaitReady() throws InterruptedException {
    lock.lock();
    try {
      while (!closed) {
        long wait = nanosToNextLocked();
        if (wait <= 0) {
          return true;
        }
        var unused = changed.awaitNanos(wait);
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private long nanosToNextLocked() {
    long now = clock.nanos();
    long least = Long.MAX_VALUE;
    for (Entry entry : entries.values()) {
      if (entry.requested && !entry.running) {
        least = Math.min(least, entry.failures == 0 ? 0 : entry.notBeforeNanos - now);
      }
    }
    return least;
  }

  /** Runs the most urgent tablet that is ready, on the calling thread; false: none was. */
  public boolean runOnce() {
    Entry entry = take();
    if (entry == null) {
      return false;
    }
    runs.increment();
    try {
      boolean more = job.run(entry.tablet);
      succeeded(entry, more);
    } catch (LostTabletException e) {
      broken(entry, "it is served elsewhere: " + e.getMessage(), e);
    } catch (IOException | SteleException e) {
      failed(entry, e);
    } catch (RuntimeException e) {
      broken(entry, name + " met what cannot be: " + e, e);
    }
    return true;
  }

  private @Nullable Entry take() {
    lock.lock();
    try {
      long now = clock.nanos();
      Entry best = null;
      long bestUrgency = 0;
      for (Entry entry : entries.values()) {
        boolean ready =
            entry.requested
                && !entry.running
                && (entry.failures == 0 || entry.notBeforeNanos - now <= 0);
        if (ready) {
          long itsUrgency = urgency.applyAsLong(entry.tablet);
          if (best == null || itsUrgency > bestUrgency) {
            best = entry;
            bestUrgency = itsUrgency;
          }
        }
      }
      if (best != null) {
        best.requested = false;
        best.running = true;
        best.served.addAll(best.waiting);
        best.waiting = new ArrayList<>();
      }
      return best;
    } finally {
      lock.unlock();
    }
  }

  private void succeeded(Entry entry, boolean more) {
    List<CompletableFuture<Void>> done;
    lock.lock();
    try {
      entry.running = false;
      entry.failures = 0;
      entry.requested |= more;
      if (more) {
        done = List.of();
      } else {
        done = entry.served;
        entry.served = new ArrayList<>();
      }
      if (!entry.requested) {
        entries.remove(entry.tablet, entry);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    entry.tablet.clearTrouble(name);
    done.forEach(future -> future.complete(null));
  }

  private void failed(Entry entry, Exception cause) {
    failures.increment();
    long delay;
    List<CompletableFuture<Void>> told = List.of();
    lock.lock();
    try {
      entry.running = false;
      entry.requested = true;
      delay = FIRST_RETRY_NANOS << Math.min(entry.failures, 20);
      delay = Math.min(delay, LAST_RETRY_NANOS);
      entry.failures++;
      entry.notBeforeNanos = clock.nanos() + delay;
      if (cause instanceof CorruptFileException) {
        told = entry.served;
        entry.served = new ArrayList<>();
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    entry.tablet.reportTrouble(
        name, cause.getMessage() == null ? cause.toString() : cause.getMessage());
    LOG.warn(
        "{} of {} failed, again in {} ms",
        name,
        entry.tablet,
        TimeUnit.NANOSECONDS.toMillis(delay),
        cause);
    if (cause instanceof CorruptFileException damage) {
      SteleException corrupt =
          SteleException.corrupt(
              name + " of " + entry.tablet + ": " + damage.getMessage(),
              damage,
              damage.file(),
              damage.offset());
      told.forEach(future -> future.completeExceptionally(corrupt));
    }
  }

  private void broken(Entry entry, String reason, Exception cause) {
    failures.increment();
    LOG.error("{} of {} stops the tablet: {}", name, entry.tablet, reason, cause);
    entry.tablet.fail(reason);
    drop(
        entry.tablet,
        new SteleException(ErrorCode.NOT_SERVING, entry.tablet + " failed: " + reason, cause));
  }

  /** Forgets the work of a tablet that leaves this server; those who wait for it fail. */
  public void cancel(Tablet tablet) {
    drop(tablet, new SteleException(ErrorCode.NOT_SERVING, tablet + " is closed here"));
  }

  private void drop(Tablet tablet, SteleException why) {
    List<CompletableFuture<Void>> left = new ArrayList<>();
    lock.lock();
    try {
      Entry entry = entries.remove(tablet);
      if (entry != null) {
        left.addAll(entry.served);
        left.addAll(entry.waiting);
      }
    } finally {
      lock.unlock();
    }
    left.forEach(future -> future.completeExceptionally(why));
  }

  /** Takes no more work and waits, for a bounded time, for the runs that go on. Idempotent. */
  @Override
  public void close() {
    List<CompletableFuture<Void>> left = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      for (Entry entry : entries.values()) {
        left.addAll(entry.waiting);
        if (!entry.running) {
          left.addAll(entry.served);
        }
      }
      entries.values().removeIf(entry -> !entry.running);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    left.forEach(future -> future.completeExceptionally(closing()));
    try {
      for (Thread thread : threads) {
        thread.join(CLOSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
