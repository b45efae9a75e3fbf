package org.stele.client;

import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a client beside those of its connections, each started when there is work: {@code
 * stele-client-done-N} complete futures, {@code stele-client-work-N} do what waits (locating
 * tablets for asynchronous calls, fetching the next batch of scans), {@code stele-client-timer}
 * begins attempts after their wait. Thread-safe.
 */
final class ClientThreads implements AutoCloseable {
  private static final int DONE_THREADS = 2;
  private static final int WORK_THREADS = 16;
  private static final int QUEUED = 1 << 16;
  private static final int IDLE_SECONDS = 10;

  private final ThreadPoolExecutor done = pool("stele-client-done-", DONE_THREADS);
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

  /** Runs what completes a future; on this thread if the client is closed or the queue is full. */
  void complete(Runnable completion) {
    try {
      done.execute(completion);
    } catch (RejectedExecutionException e) {
      completion.run();
    }
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
              } catch (RejectedExecutionException e) {
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
