package org.stele.tserver.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
  private final Measurement measurement = new Measurement();

  Level(int threads, @Nullable Long serverPid, BenchOperation.Factory factory) {
    this.threads = threads;
    this.serverPid = serverPid;
    this.factory = factory;
  }

  LevelResult run(Duration warmUp, Duration measure) {
    try {
      startWorkers();
      Measurement.Span span = measurement.run(warmUp, measure, serverPid);
      endWorkers();
      Latencies all = new Latencies();
      workers.forEach(worker -> all.add(worker.latencies));
      return new LevelResult(threads, span.nanos(), all, span.server());
    } finally {
      measurement.end();
    }
  }

  /** Runs, without measuring, until a condition holds. */
  void runUntil(BooleanSupplier done) {
    try {
      startWorkers();
      while (!done.getAsBoolean()) {
        measurement.throwFailure();
        BenchServer.pause(10);
      }
      measurement.end();
      endWorkers();
    } finally {
      measurement.end();
    }
  }

  private void startWorkers() {
    for (int i = 0; i < threads; i++) {
      workers.add(new Worker(factory.create(i, threads), i));
    }
    workers.forEach(worker -> worker.thread.start());
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
    measurement.throwFailure();
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
        for (Measurement.Phase begun = measurement.phase();
            begun != Measurement.Phase.END;
            begun = measurement.phase()) {
          long start = System.nanoTime();
          int requests = operation.run();
          long end = System.nanoTime();
          if (requests > 0 && measurement.counts(begun)) {
            latencies.record(end - start, requests);
          }
        }
      } catch (Throwable e) {
        measurement.fail(e);
      }
    }
  }
}
