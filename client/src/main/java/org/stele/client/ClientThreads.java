package org.stele.client;

import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a client beside those of its connections, each started when there is work: {@code
 * stele-client-done-N} complete futures, {@code stele-client-work-N} do what waits (locating
 * tablets for asynchronous calls, fetching the next batch of scans), {@code stele-client-timer}
 * begins attempts after their wait. Thread-safe.
 *
 * <p>What the application hung on a future runs on the threads {@code done} and on no other, so
 * that whatever it does holds up no connection, no attempt and no locating. If it waits there for
 * another future, a thread more takes its place.
 */
final class ClientThreads implements AutoCloseable {
  private static final int DONE_THREADS = 2;
  private static final int MAX_DONE_THREADS = 64;
  private static final int WORK_THREADS = 16;
  private static final int QUEUED = 1 << 16;
  private static final int IDLE_SECONDS = 10;

  private final ForkJoinPool done = donePool();
  private final ThreadPoolExecutor work = pool("stele-client-work-", WORK_THREADS);
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "stele-client-timer");
            thread.setDaemon(true);
            return thread;
          });

  /** What to run instead of tasks whose time has not come. */
  private final Set<Runnable> delayed = ConcurrentHashMap.newKeySet();

  private static ThreadPoolExecutor pool(String prefix, int threads) {
    AtomicInteger number = new AtomicInteger();
    ThreadFactory factory =
        task -> {
          Thread thread = new Thread(task, prefix + number.getAndIncrement());
          thread.setDaemon(true);
          return thread;
        };
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(QUEUED),
            factory);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static ForkJoinPool donePool() {
    AtomicInteger number = new AtomicInteger();
    return new ForkJoinPool(
        DONE_THREADS,
        pool -> {
          ForkJoinWorkerThread thread =
              ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
          thread.setName("stele-client-done-" + number.getAndIncrement());
          return thread;
        },
        null,
        true, // first come, first served
        DONE_THREADS,
        MAX_DONE_THREADS,
        DONE_THREADS,
        pool -> true, // more threads that wait are not replaced
        IDLE_SECONDS,
        TimeUnit.SECONDS);
  }

  /**
   * Runs what completes a future, which may be run twice; on this thread only if the client is
   * closed or no thread can be started.
   */
  void complete(Runnable completion) {
    try {
      done.execute(completion);
    } catch (RejectedExecutionException | Error e) {
      completion.run();
    }
  }

  /** Whether the application is so far behind with its futures that it should begin no more. */
  boolean isBehind() {
    return done.getQueuedSubmissionCount() >= QUEUED;
  }

  /**
   * Runs what may wait.
   *
   * @throws RejectedExecutionException if the client is closed or too much waits
   */
  void work(Runnable task) {
    work.execute(task);
  }

  /**
   * As {@link #work}, with a result; what the task or the start of a thread throws fails it.
   *
   * @throws RejectedExecutionException as {@link #work}
   */
  <T> CompletableFuture<T> supply(Supplier<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      work(
          () -> {
            try {
              T value = task.get();
              complete(() -> result.complete(value));
            } catch (RuntimeException | Error e) {
              complete(() -> result.completeExceptionally(e));
            }
          });
    } catch (RejectedExecutionException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      complete(() -> result.completeExceptionally(e));
    }
    return result;
  }

  /**
   * Runs what may wait later.
   *
   * @param rejected run instead, if the client is closed before or too much waits then
   * @throws RejectedExecutionException if the client is closed
   */
  void workAfter(long nanos, Runnable task, Runnable rejected) {
    delayed.add(rejected);
    Future<?> unused = // it only hands on
        timer.schedule(
            () -> {
              try {
                work.execute(task);
                delayed.remove(rejected);
              } catch (RejectedExecutionException | Error e) { // also: no thread can be started
                reject(rejected);
              }
            },
            nanos,
            TimeUnit.NANOSECONDS);
  }

  private void reject(Runnable rejected) {
    if (delayed.remove(rejected)) {
      rejected.run();
    }
  }

  /** Runs a task beside the caller's own work, if a thread is free; null: it is not run. */
  <T> @Nullable Future<T> tryBeside(Callable<T> task) {
    if (work.getActiveCount() >= WORK_THREADS || !work.getQueue().isEmpty()) {
      return null;
    }
    try {
      return work.submit(task);
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    work.shutdownNow().forEach(Runnable::run); // each sees that the client is closed
    delayed.forEach(this::reject);
    done.shutdown();
  }
}
