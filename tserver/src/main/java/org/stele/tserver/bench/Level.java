package org.stele.tserver.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * Runs an operation in a number of threads, first for a while that does not count and then for one
 * that does, and measures both ends: the latency of each call, and what the server process used.
 *
 * <p>Threads are called bench-N. A failure in any of them ends the level and the benchmark.
 */
final class Level {
  private static final Duration END_LIMIT = Duration.ofSeconds(90);

  private final int threads;
  private final BenchOperation.Factory factory;
  private final @Nullable Long serverPid;
  private final List<Worker> workers = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile Phase phase = Phase.WARM_UP;

  private enum Phase {
    WARM_UP,
    MEASURE,
    END
  }

  Level(int threads, @Nullable Long serverPid, BenchOperation.Factory factory) {
    this.threads = threads;
    this.serverPid = serverPid;
    this.factory = factory;
  }

  LevelResult run(Duration warmUp, Duration measure) {
    try {
      startWorkers();
      await(warmUp);
      ProcessUsage usageBefore = ProcessUsage.of(serverPid);
      long start = System.nanoTime();
      phase = Phase.MEASURE;
      await(measure);
      phase = Phase.END;
      long nanos = System.nanoTime() - start;
      ProcessUsage usageAfter = ProcessUsage.of(serverPid);
      endWorkers();
      return result(nanos, usageBefore, usageAfter);
    } finally {
      phase = Phase.END;
    }
  }

  /** Runs, without measuring, until a condition holds. */
  void runUntil(BooleanSupplier done) {
    try {
      startWorkers();
      while (!done.getAsBoolean()) {
        failOnFailure();
        BenchServer.pause(10);
      }
      phase = Phase.END;
      endWorkers();
    } finally {
      phase = Phase.END;
    }
  }

  private void startWorkers() {
    for (int i = 0; i < threads; i++) {
      workers.add(new Worker(factory.create(i, threads), i));
    }
    workers.forEach(worker -> worker.thread.start());
  }

  /** Waits, and stops waiting at the first failure. */
  private void await(Duration duration) {
    long deadline = System.nanoTime() + duration.toNanos();
    long left = duration.toNanos();
    while (left > 0) {
      failOnFailure();
      BenchServer.pause(Math.max(1, Math.min(100, left / 1_000_000)));
      left = deadline - System.nanoTime();
    }
    failOnFailure();
  }

  private void endWorkers() {
    long deadline = System.nanoTime() + END_LIMIT.toNanos();
    for (Worker worker : workers) {
      try {
        worker.thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CommandFailure("interrupted", e);
      }
      if (worker.thread.isAlive()) {
        throw new CommandFailure(
            "an operation has not ended within " + END_LIMIT.toSeconds() + " s");
      }
    }
    failOnFailure();
  }

  private void failOnFailure() {
    Throwable first = failure.get();
    if (first != null) {
      String message = first.getMessage() == null ? first.toString() : first.getMessage();
      throw new CommandFailure("the benchmark failed: " + message, first);
    }
  }

  private LevelResult result(
      long nanos, @Nullable ProcessUsage before, @Nullable ProcessUsage after) {
    Latencies all = new Latencies();
    workers.forEach(worker -> all.add(worker.latencies));
    ProcessUsage.Difference server = before == null || after == null ? null : after.since(before);
    return new LevelResult(threads, nanos, all, server);
  }

  /** One thread of the level. Its latencies are read by others after it has ended. */
  private final class Worker implements Runnable {
    final Latencies latencies = new Latencies();
    final Thread thread;
    private final BenchOperation operation;

    Worker(BenchOperation operation, int number) {
      this.operation = operation;
      this.thread = new Thread(this, "bench-" + number);
      this.thread.setDaemon(true);
    }

    @Override
    public void run() {
      try (operation) {
        for (Phase begun = phase; begun != Phase.END; begun = phase) {
          long start = System.nanoTime();
          int requests = operation.run();
          long end = System.nanoTime();
          // What began or ended outside the measured time is not counted.
          if (begun == Phase.MEASURE && phase == Phase.MEASURE && requests > 0) {
            latencies.record(end - start, requests);
          }
        }
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
    }
  }
}
