package org.stele.tserver.maintenance;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.stele.core.time.Clock;
import org.stele.tserver.tablet.Tablet;

/**
 * One kind of work on tablets: flushes, or compactions. For each tablet at most one run at a time,
 * the most urgent tablet first. The system's tablets have a line and a thread of their own, because
 * users' work waits for them.
 *
 * <p>A run has two steps: it writes a file, then it brings the file into metadata and the tablet's
 * view. What is between the steps is owned here: it is kept for the next attempt until the second
 * step has succeeded, and let go when the tablet leaves this server.
 *
 * <p>Thread-safe; owns the threads NAME-N and NAME-system-0.
 */
public final class TabletJobs<I> implements Closeable {
  private final JobLine<I> users;
  private final JobLine<I> system;

  /**
   * The work itself, on a worker thread; may block.
   *
   * @param <I> what a file is made from
   */
  public interface Job<I> {
    /** The first step; null: nothing is to be done. */
    @Nullable WrittenFile<I> write(Tablet tablet) throws IOException;

    /**
     * The second step: commits the file to metadata, then puts it into the tablet's view. Repeated
     * with the same file until it succeeds; the tablet becomes a user of the file.
     *
     * @return whether there is more to do, now
     */
    boolean finish(Tablet tablet, WrittenFile<I> written) throws IOException;
  }

  /**
   * @param threads for users' tablets; 0: only {@link #runOnce} does the work
   * @param urgency of a tablet at the moment; larger is sooner
   */
  public TabletJobs(
      String name, int threads, Clock clock, Job<I> job, ToLongFunction<Tablet> urgency) {
    users = new JobLine<>(name, threads, clock, job, urgency);
    system = new JobLine<>(name + "-system", Math.min(threads, 1), clock, job, urgency);
  }

  public void start() {
    users.start();
    system.start();
  }

  private JobLine<I> line(Tablet tablet) {
    return tablet.isSystem() ? system : users;
  }

  /** Asks for a run; one request stands for all that come before it begins. */
  public void request(Tablet tablet) {
    line(tablet).request(tablet);
  }

  /** Asks for a run; the future is done when one that began after this call has succeeded. */
  public CompletableFuture<Void> submit(Tablet tablet) {
    return line(tablet).submit(tablet);
  }

  /** The tablet leaves this server: runs that were asked for and not done fail. */
  public void forget(Tablet tablet) {
    line(tablet).forget(tablet);
  }

  /** Whether a run of the tablet goes on or is due. */
  public boolean isPending(Tablet tablet) {
    return line(tablet).isPending(tablet);
  }

  /** Tablets with work to do. */
  public int pending() {
    return users.pending() + system.pending();
  }

  public long failures() {
    return users.failures() + system.failures();
  }

  /** Runs the most urgent tablet that is ready, on the calling thread; false: none was. */
  public boolean runOnce() {
    return system.runOnce() || users.runOnce();
  }

  /** Takes no more work and waits, for a bounded time, for the runs that go on. Idempotent. */
  @Override
  public void close() {
    users.close();
    system.close();
  }
}
