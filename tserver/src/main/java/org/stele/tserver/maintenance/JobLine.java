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
 * The tablets that wait for one kind of work, and the threads that do it. A run that fails for a
 * reason outside (disk full, metadata not there) is repeated after a time that doubles, and the
 * tablet tells the reason until it succeeds; if the reason is a damaged file, which only an
 * operator can help, those who wait are told at once. A run that fails because metadata gave the
 * tablet to another, or because something is wrong that cannot be, fails the tablet; a tablet that
 * is not served any more is forgotten. This is the only place where flushes and compactions are
 * repeated.
 *
 * <p>Always holds: a tablet has one entry, and its entry stays while a run goes on; so there are
 * never two runs of a tablet at a time, and what a run has written is used and let go by one thread
 * at a time.
 *
 * <p>Thread-safe. The line is bounded by the number of tablets.
 */
final class JobLine<I> implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(JobLine.class);
  private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LAST_RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long CLOSE_MILLIS = 30_000;

  private final String name;
  private final Clock clock;
  private final TabletJobs.Job<I> job;
  private final ToLongFunction<Tablet> urgency;
  private final List<Thread> threads = new ArrayList<>();
  private final LongAdder failures = new LongAdder();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final IdentityHashMap<Tablet, Entry<I>> entries = new IdentityHashMap<>();

  @GuardedBy("lock")
  private boolean closed;

  /** A tablet with work to do. Guarded by the lock. */
  private static final class Entry<I> {
    final Tablet tablet;

    /** Of an attempt whose second step has not succeeded; while a run goes on only its thread's. */
    @Nullable WrittenFile<I> written;

    /** Want a run that has not begun yet. */
    List<CompletableFuture<Void>> waiting = new ArrayList<>();

    /** Want the run that goes on now, or its repetition. */
    List<CompletableFuture<Void>> served = new ArrayList<>();

    boolean requested;
    boolean running;

    /** The tablet has left: the entry goes when the run ends. */
    boolean forgotten;

    int failures;
    long notBeforeNanos;

    Entry(Tablet tablet) {
      this.tablet = tablet;
    }
  }

  /**
   * @param name of the work and, with a number, of its threads
   */
  JobLine(
      String name,
      int threadCount,
      Clock clock,
      TabletJobs.Job<I> job,
      ToLongFunction<Tablet> urgency) {
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

  void start() {
    threads.forEach(Thread::start);
  }

  void request(Tablet tablet) {
    lock.lock();
    try {
      if (!closed) {
        entries.computeIfAbsent(tablet, Entry<I>::new).requested = true;
        changed.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  CompletableFuture<Void> submit(Tablet tablet) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    boolean gone = false;
    lock.lock();
    try {
      if (!closed) {
        Entry<I> entry = entries.computeIfAbsent(tablet, Entry<I>::new);
        gone = entry.forgotten;
        if (!gone) {
          entry.requested = true;
          entry.waiting.add(done);
          changed.signal();
          return done;
        }
      }
    } finally {
      lock.unlock();
    }
    done.completeExceptionally(gone ? gone(tablet) : closing());
    return done;
  }

  private static SteleException gone(Tablet tablet) {
    return new SteleException(ErrorCode.NOT_SERVING, tablet + " is closed here");
  }

  private SteleException closing() {
    return new SteleException(ErrorCode.UNAVAILABLE, "the server is closing: no more " + name);
  }

  boolean isPending(Tablet tablet) {
    lock.lock();
    try {
      return entries.containsKey(tablet);
    } finally {
      lock.unlock();
    }
  }

  int pending() {
    lock.lock();
    try {
      return entries.size();
    } finally {
      lock.unlock();
    }
  }

  long failures() {
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
    for (Entry<I> entry : entries.values()) {
      if (isDueLocked(entry)) {
        least = Math.min(least, entry.failures == 0 ? 0 : entry.notBeforeNanos - now);
      }
    }
    return least;
  }

  @GuardedBy("lock")
  private boolean isDueLocked(Entry<I> entry) {
    return entry.requested && !entry.running && !entry.forgotten;
  }

  boolean runOnce() {
    Entry<I> entry = take();
    if (entry == null) {
      return false;
    }
    try {
      boolean more = run(entry);
      succeeded(entry, more);
    } catch (LostTabletException e) {
      broken(entry, "it is served elsewhere: " + e.getMessage(), e);
    } catch (IOException e) {
      failed(entry, e);
    } catch (SteleException e) {
      if (e.code() == ErrorCode.NOT_SERVING) {
        end(entry, e);
      } else {
        failed(entry, e);
      }
    } catch (RuntimeException e) {
      broken(entry, name + " met what cannot be: " + e, e);
    }
    return true;
  }

  /** Both steps, the first only if no attempt before has done it; whether there is more to do. */
  private boolean run(Entry<I> entry) throws IOException {
    WrittenFile<I> written = entry.written;
    boolean repeated = written != null;
    if (written == null) {
      written = job.write(entry.tablet);
      entry.written = written;
    }
    if (written == null) {
      return false;
    }
    boolean more = job.finish(entry.tablet, written);
    entry.written = null;
    written.release();
    return more || repeated;
  }

  private @Nullable Entry<I> take() {
    lock.lock();
    try {
      long now = clock.nanos();
      Entry<I> best = null;
      long bestUrgency = 0;
      for (Entry<I> entry : entries.values()) {
        boolean ready =
            isDueLocked(entry) && (entry.failures == 0 || entry.notBeforeNanos - now <= 0);
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

  private void succeeded(Entry<I> entry, boolean more) {
    List<CompletableFuture<Void>> done = List.of();
    List<CompletableFuture<Void>> undone = List.of();
    lock.lock();
    try {
      entry.running = false;
      entry.failures = 0;
      entry.requested |= more;
      if (!more) {
        done = takeServedLocked(entry);
      }
      if (closed || entry.forgotten || !entry.requested) {
        undone = removeLocked(entry);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    entry.tablet.clearTrouble(name);
    done.forEach(future -> future.complete(null));
    undone.forEach(future -> future.completeExceptionally(closing()));
  }

  private void failed(Entry<I> entry, Exception cause) {
    failures.increment();
    SteleException reason = reasonToTell(entry.tablet, cause);
    long delay;
    boolean last;
    List<CompletableFuture<Void>> told = List.of();
    lock.lock();
    try {
      entry.running = false;
      entry.requested = true;
      delay = Math.min(FIRST_RETRY_NANOS << Math.min(entry.failures, 20), LAST_RETRY_NANOS);
      entry.failures++;
      entry.notBeforeNanos = clock.nanos() + delay;
      last = closed || entry.forgotten;
      if (last) {
        told = removeLocked(entry);
      } else if (reason.code() == ErrorCode.CORRUPT) {
        told = takeServedLocked(entry);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (last) {
      LOG.info("{} of {} failed, and is not repeated: it closes", name, entry.tablet, cause);
      letGo(entry);
    } else {
      entry.tablet.reportTrouble(
          name, cause.getMessage() == null ? cause.toString() : cause.getMessage());
      LOG.warn(
          "{} of {} failed, again in {} ms",
          name,
          entry.tablet,
          TimeUnit.NANOSECONDS.toMillis(delay),
          cause);
    }
    told.forEach(future -> future.completeExceptionally(reason));
  }

  private SteleException reasonToTell(Tablet tablet, Exception cause) {
    String what = name + " of " + tablet + ": " + cause.getMessage();
    return cause instanceof CorruptFileException damage
        ? SteleException.corrupt(what, damage, damage.file(), damage.offset())
        : new SteleException(ErrorCode.UNAVAILABLE, what, cause);
  }

  private void broken(Entry<I> entry, String reason, Exception cause) {
    failures.increment();
    Tablet tablet = entry.tablet;
    if (tablet.servesReads()) {
      LOG.error("{} of {} stops the tablet: {}", name, tablet, reason, cause);
      tablet.fail(reason);
    } else {
      LOG.info("{} of {} ends, since that is not served any more: {}", name, tablet, reason);
    }
    end(entry, new SteleException(ErrorCode.NOT_SERVING, tablet + " failed: " + reason, cause));
  }

  /** The run was the tablet's last: those who wait fail. */
  private void end(Entry<I> entry, SteleException why) {
    List<CompletableFuture<Void>> told;
    lock.lock();
    try {
      entry.running = false;
      told = removeLocked(entry);
    } finally {
      lock.unlock();
    }
    letGo(entry);
    told.forEach(future -> future.completeExceptionally(why));
  }

  /** The tablet leaves this server: those who wait for its work fail. */
  void forget(Tablet tablet) {
    List<CompletableFuture<Void>> told;
    boolean running;
    Entry<I> entry;
    lock.lock();
    try {
      entry = entries.get(tablet);
      if (entry == null) {
        return;
      }
      entry.forgotten = true;
      running = entry.running;
      if (running) {
        told = takeServedLocked(entry);
        told.addAll(entry.waiting);
        entry.waiting = new ArrayList<>();
      } else {
        told = removeLocked(entry);
      }
    } finally {
      lock.unlock();
    }
    if (!running) {
      letGo(entry);
    }
    told.forEach(future -> future.completeExceptionally(gone(tablet)));
  }

  @GuardedBy("lock")
  private List<CompletableFuture<Void>> takeServedLocked(Entry<I> entry) {
    List<CompletableFuture<Void>> served = entry.served;
    entry.served = new ArrayList<>();
    return served;
  }

  /**
   * Takes an entry out that has no run; the caller lets go what is left of it.
   *
   * @return those who wait
   */
  @GuardedBy("lock")
  private List<CompletableFuture<Void>> removeLocked(Entry<I> entry) {
    entries.remove(entry.tablet, entry);
    List<CompletableFuture<Void>> waiting = takeServedLocked(entry);
    waiting.addAll(entry.waiting);
    return waiting;
  }

  /** Lets go the file of an attempt that did not succeed; the entry is taken out and has no run. */
  private static <I> void letGo(Entry<I> entry) {
    WrittenFile<I> left = entry.written;
    entry.written = null;
    if (left != null) {
      left.release();
    }
  }

  @Override
  public void close() {
    List<CompletableFuture<Void>> told = new ArrayList<>();
    List<Entry<I>> removed = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      for (Entry<I> entry : List.copyOf(entries.values())) {
        if (entry.running) {
          told.addAll(entry.waiting);
          entry.waiting = new ArrayList<>();
        } else {
          told.addAll(removeLocked(entry));
          removed.add(entry);
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    removed.forEach(JobLine::letGo);
    told.forEach(future -> future.completeExceptionally(closing()));
    try {
      for (Thread thread : threads) {
        thread.join(CLOSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
