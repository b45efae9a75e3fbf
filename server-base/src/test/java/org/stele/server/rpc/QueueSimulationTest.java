package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.retry.RetryOptions;
import org.stele.client.retry.RetryPolicy;
import org.stele.core.error.SteleException;
import org.stele.core.time.ManualClock;

/**
 * Workers, the queue, and clients with their real retry policy on a clock moved by hand: what the
 * queue gives to each over some time. One thread, one seed.
 */
class QueueSimulationTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1000 * MS;

  /** Repeated with other seeds in the long form. */
  private static final int SEEDS = Boolean.getBoolean("stele.long") ? 20 : 2;

  private long seed;

  private void withSeeds(Runnable test) {
    Long given = Long.getLong("stele.seed");
    for (int i = 0; i < (given == null ? SEEDS : 1); i++) {
      seed = given == null ? new Random().nextLong() : given;
      test.run();
    }
  }

  @ParameterizedTest
  @CsvSource({"4, 4", "4, 8", "2, 4", "8, 4", "1, 2", "4, 32", "1, 16"})
  void eighteenClientsGetTheSame(int workers, int queueCalls) {
    withSeeds(() -> eighteenClients(workers, queueCalls));
  }

  private void eighteenClients(int workers, int queueCalls) {
    Simulation simulation = new Simulation(workers, queueCalls, 20 * MS, seed);
    for (int i = 0; i < 18; i++) {
      simulation.closedLoop("client " + i, 1, 60 * SECOND);
    }
    simulation.run(10 * SECOND);
    long[] successes = simulation.successes();
    double minMax =
        (double) Arrays.stream(successes).min().orElseThrow()
            / Arrays.stream(successes).max().orElseThrow();
    String what = "-Dstele.seed=" + seed + ": " + simulation;
    assertTrue(minMax >= 0.8, what);
    assertTrue(jain(successes) >= 0.98, what);
    assertTrue(simulation.used() >= 0.9, what);
    assertEquals(0, simulation.ranLate);
  }

  @ParameterizedTest
  @CsvSource({"2, 16", "8, 32", "8, 2048"})
  void lightTenantHardlyNoticesTheHeavyOne(int workers, int queueCalls) {
    withSeeds(() -> lightAndHeavy(workers, queueCalls));
  }

  private void lightAndHeavy(int workers, int queueCalls) {
    Simulation alone = new Simulation(workers, queueCalls, 5 * MS, seed);
    alone.closedLoop("light", 1, 60 * SECOND);
    alone.run(10 * SECOND);
    Simulation both = new Simulation(workers, queueCalls, 5 * MS, seed);
    both.closedLoop("heavy", 64, 60 * SECOND);
    both.closedLoop("light", 1, 60 * SECOND);
    both.run(10 * SECOND);
    double before = alone.percentile("light", 99);
    double after = both.percentile("light", 99);
    String what = "-Dstele.seed=" + seed + ": " + before + " ns, then " + after + "; " + both;
    assertTrue(after <= 3 * before, what);
    assertTrue(both.used() >= 0.9, what);
  }

  @ParameterizedTest
  @CsvSource({"8, 64, 500", "8, 2048, 500", "2, 16, 1000", "8, 2048, 60000"})
  void atTwiceTheCapacityNearlyAllThatIsDoneIsOfUse(
      int workers, int queueCalls, long deadlineMillis) {
    withSeeds(() -> twiceTheCapacity(workers, queueCalls, deadlineMillis));
  }

  private void twiceTheCapacity(int workers, int queueCalls, long deadlineMillis) {
    Simulation simulation = new Simulation(workers, queueCalls, 5 * MS, seed);
    for (int i = 0; i < 4; i++) {
      simulation.openLoop("tenant " + i, workers * 2 * 200 / 4, deadlineMillis * MS);
    }
    simulation.run(10 * SECOND);
    String what = "-Dstele.seed=" + seed + ": " + simulation;
    double capacity = workers * 10 * 200;
    assertTrue(Arrays.stream(simulation.successes()).sum() >= 0.9 * capacity, what);
    assertEquals(0, simulation.ranLate, what);
    assertTrue(jain(simulation.successes()) >= 0.98, what);
  }

  @Test
  void weightsDivideTheWorkersTime() {
    withSeeds(() -> weights());
  }

  private void weights() {
    Simulation simulation = new Simulation(4, 256, 5 * MS, seed);
    simulation.weights = new Weights("gold=3,silver=1");
    simulation.closedLoop("gold", 32, 60 * SECOND);
    simulation.closedLoop("silver", 32, 60 * SECOND);
    simulation.run(10 * SECOND);
    long[] successes = simulation.successes();
    assertEquals(3, (double) successes[0] / successes[1], 0.1, simulation::toString);
  }

  private static double jain(long[] values) {
    double sum = Arrays.stream(values).sum();
    double squares = Arrays.stream(values).mapToDouble(value -> (double) value * value).sum();
    return sum * sum / (values.length * squares);
  }

  /** One run. Events happen in the order of their times. */
  private static final class Simulation {
    private final ManualClock clock = new ManualClock(0, SECOND);
    private final long start = clock.nanos();
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final List<Tenant> tenants = new ArrayList<>();
    private final SplittableRandom random;
    private final int workers;
    private final int queueCalls;
    private final long serviceNanos;
    private final RetryTimes retryTimes = new RetryTimes(start);
    private Weights weights = new Weights("");
    private CallQueue<SimulatedCall> queue;
    private int free;
    private long smoothedNanos = MS;
    private long usedNanos;
    private long endNanos;
    private long refusals;
    private long ranLate;
    private long numbers;

    Simulation(int workers, int queueCalls, long serviceNanos, long seed) {
      this.workers = workers;
      this.queueCalls = queueCalls;
      this.serviceNanos = serviceNanos;
      this.random = new SplittableRandom(seed);
      this.free = workers;
    }

    void closedLoop(String name, int callers, long deadline) {
      Tenant tenant = new Tenant(name);
      tenants.add(tenant);
      for (int i = 0; i < callers; i++) {
        RetryPolicy policy =
            new RetryPolicy(RetryOptions.defaults(), clock, () -> random.nextDouble());
        later(random.nextLong(MS), () -> begin(tenant, policy, deadline, true));
      }
    }

    void openLoop(String name, int perSecond, long deadline) {
      Tenant tenant = new Tenant(name);
      tenants.add(tenant);
      RetryPolicy policy =
          new RetryPolicy(RetryOptions.defaults(), clock, () -> random.nextDouble());
      arrive(tenant, policy, perSecond, deadline);
    }

    private void arrive(Tenant tenant, RetryPolicy policy, int perSecond, long deadline) {
      later(
          (long) (-Math.log(1 - random.nextDouble()) * SECOND / perSecond),
          () -> {
            begin(tenant, policy, deadline, false);
            arrive(tenant, policy, perSecond, deadline);
          });
    }

    void run(long nanos) {
      queue = new CallQueue<>(queueCalls, 1 << 20, workers, weights::of);
      endNanos = start + nanos;
      long tick = start;
      while (!events.isEmpty() && events.peek().at < endNanos) {
        Event event = events.poll();
        clock.advance(Duration.ofNanos(event.at - clock.nanos()));
        if (clock.nanos() - tick > SECOND / 4) {
          tick = clock.nanos();
          List<SimulatedCall> expired = new ArrayList<>();
          queue.pollExpired(tick, expired);
          expired.forEach(this::over);
        }
        event.what.run();
      }
    }

    private void later(long nanos, Runnable what) {
      events.add(new Event(clock.nanos() + nanos, ++numbers, what));
    }

    private void begin(Tenant tenant, RetryPolicy policy, long deadline, boolean again) {
      long now = clock.nanos();
      Runnable next = again ? () -> begin(tenant, policy, deadline, true) : () -> {};
      arrived(
          new SimulatedCall(
              tenant, policy.begin(() -> "a call", false, now + deadline), now, next));
    }

    private void arrived(SimulatedCall call) {
      if (free > 0) {
        free--;
        start(call, null);
        return;
      }
      List<SimulatedCall> refused = new ArrayList<>();
      queue.add(call, clock.nanos(), smoothedNanos, refused);
      refused.forEach(this::refuse);
    }

    private void refuse(SimulatedCall call) {
      refusals++;
      int wait = retryTimes.next(clock.nanos(), smoothedNanos / workers);
      try {
        long nanos =
            call.attempts.failed(
                AttemptException.replied("server", SteleException.busy("full", wait)));
        later(nanos, () -> arrived(call));
      } catch (SteleException e) {
        over(call);
      }
    }

    /** It failed: a caller in a loop goes on with the next. */
    private void over(SimulatedCall call) {
      later(MS, call.next);
    }

    private void start(SimulatedCall call, CallQueue.Taken<SimulatedCall> taken) {
      if (call.deadlineNanos() - clock.nanos() < serviceNanos) { // as ServedMethod.canBeDoneIn
        over(call);
        end(taken, 0);
        return;
      }
      if (call.deadlineNanos() <= clock.nanos()) {
        ranLate++;
      }
      usedNanos += Math.min(serviceNanos, endNanos - clock.nanos());
      later(
          serviceNanos,
          () -> {
            if (call.deadlineNanos() >= clock.nanos()) {
              call.tenant.successes++;
              call.tenant.nanos.add(clock.nanos() - call.firstAttemptNanos());
            }
            end(taken, serviceNanos);
            later(10_000, call.next);
          });
    }

    private void end(CallQueue.Taken<SimulatedCall> taken, long nanos) {
      smoothedNanos += (nanos - smoothedNanos) >> 3;
      if (taken != null) {
        queue.ran(taken, nanos, 300);
      }
      CallQueue.Taken<SimulatedCall> next = queue.poll();
      if (next == null) {
        queue.idle();
        free++;
      } else {
        start(next.call(), next);
      }
    }

    long[] successes() {
      return tenants.stream().mapToLong(tenant -> tenant.successes).toArray();
    }

    double percentile(String name, int percent) {
      long[] sorted =
          tenants.stream()
              .filter(tenant -> tenant.name.equals(name))
              .flatMap(tenant -> tenant.nanos.stream())
              .mapToLong(Long::longValue)
              .sorted()
              .toArray();
      return sorted[sorted.length * percent / 100];
    }

    /** The share of the workers' time that was used. */
    double used() {
      return (double) usedNanos / workers / (endNanos - start);
    }

    @Override
    public String toString() {
      return Arrays.toString(successes())
          + ", "
          + refusals
          + " refusals, workers busy "
          + Math.round(used() * 100)
          + " %";
    }
  }

  private static final class Tenant {
    private final String name;
    private final List<Long> nanos = new ArrayList<>();
    private long successes;

    Tenant(String name) {
      this.name = name;
    }
  }

  private record SimulatedCall(
      Tenant tenant, Attempts attempts, long firstAttemptNanos, Runnable next)
      implements CallQueue.Waiting {
    @Override
    public long deadlineNanos() {
      return attempts.deadlineNanos();
    }

    @Override
    public int heldBytes() {
      return 300;
    }

    @Override
    public Object principal() {
      return tenant.name;
    }
  }

  private record Event(long at, long number, Runnable what) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int order = Long.compare(at, other.at);
      return order != 0 ? order : Long.compare(number, other.number);
    }
  }
}
