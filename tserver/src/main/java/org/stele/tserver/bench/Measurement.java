package org.stele.tserver.bench;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * The course of a level: the load runs for a while that does not count and then for one that does.
 * The first failure ends it. Whoever makes the load asks for the phase at the begin and at the end
 * of each call; one thread runs the measurement.
 */
final class Measurement {
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile Phase phase = Phase.WARM_UP;

  enum Phase {
    WARM_UP,
    MEASURE,
    END
  }

  /**
   * @param nanos the measured time
   * @param server what the server process used in that time; null if it is not known
   */
  record Span(long nanos, ProcessUsage.@Nullable Difference server) {}

  Phase phase() {
    return phase;
  }

  /** What began or ended outside the measured time is not counted. */
  boolean counts(Phase begun) {
    return begun == Phase.MEASURE && phase == Phase.MEASURE;
  }

  Span run(Duration warmUp, Duration measure, @Nullable Long serverPid) {
    await(warmUp);
    ProcessUsage before = ProcessUsage.of(serverPid);
    long start = System.nanoTime();
    phase = Phase.MEASURE;
    await(measure);
    phase = Phase.END;
    long nanos = System.nanoTime() - start;
    ProcessUsage after = ProcessUsage.of(serverPid);
    return new Span(nanos, before == null || after == null ? null : after.since(before));
  }

  /** Waits, and stops waiting at the first failure. */
  private void await(Duration duration) {
    long deadline = System.nanoTime() + duration.toNanos();
    long left = duration.toNanos();
    while (left > 0) {
      throwFailure();
      BenchServer.pause(Math.max(1, Math.min(100, left / 1_000_000)));
      left = deadline - System.nanoTime();
    }
    throwFailure();
  }

  /** The load ends. */
  void end() {
    phase = Phase.END;
  }

  /** Ends the load; the first failure is told. */
  void fail(Throwable reason) {
    failure.compareAndSet(null, reason);
    phase = Phase.END;
  }

  void throwFailure() {
    Throwable first = failure.get();
    if (first != null) {
      String message = first.getMessage() == null ? first.toString() : first.getMessage();
      throw new CommandFailure("the benchmark failed: " + message, first);
    }
  }
}
