package org.stele.tserver.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.retry.RetryOptions;
import org.stele.client.retry.RetryPolicy;
import org.stele.client.rpc.Answer;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.RpcClient;
import org.stele.client.rpc.RpcOptions;
import org.stele.client.rpc.ServerCalls;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.net.TlsContext;
import org.stele.core.net.TlsOptions;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;

/**
 * The load of one tenant, in a process of its own with an address of its own: callers in a loop
 * that try again as Stele's client does, or calls at a given rate, whatever becomes of those
 * before. Prints that it is ready; for each line {@code WARM-UP SECONDS} that it reads it makes the
 * load for that time, and prints what came of it.
 */
final class TenantLoad {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(20);
  private static final int MAX_REPLY_BYTES = 1 << 20;
  private static final int CONNECTIONS = 2;
  private static final Bytes PAYLOAD = EmptyCall.payload();

  /** What a tenant is told; the settings are the server's. */
  record Given(
      String server,
      String from,
      int callers,
      double perSecond,
      Duration deadline,
      Map<String, String> settings) {}

  private final Given given;
  private final Clock clock = Clock.system();
  private final RpcClient rpc;
  private final ServerCalls calls;
  private final RetryPolicy retries;

  private TenantLoad(Given given) throws IOException {
    this.given = given;
    SecureRandom random = new SecureRandom();
    Settings settings = Settings.of(given.settings);
    rpc =
        new RpcClient(
            new RpcOptions(
                    CONNECT_LIMIT,
                    CONNECTIONS,
                    MAX_REPLY_BYTES,
                    "",
                    random.nextLong(),
                    TlsOptions.isWanted(settings)
                        ? TlsContext.forClient(TlsOptions.of(settings))
                        : null)
                .withLocalAddress(InetAddress.getByName(given.from)),
            clock,
            () -> "");
    calls = new ServerCalls(rpc);
    SplittableRandom waits = new SplittableRandom(random.nextLong());
    retries =
        new RetryPolicy(
            RetryOptions.defaults(),
            clock,
            () -> {
              synchronized (waits) {
                return waits.nextDouble();
              }
            });
  }

  static void run(CommandContext context, Given given) throws Exception {
    TenantLoad load = new TenantLoad(given);
    try {
      load.connect(); // a connection is there before it matters
      context.printJson(Map.of("ready", true));
      context.out().flush();
      BufferedReader input =
          new BufferedReader(new InputStreamReader(context.in(), StandardCharsets.UTF_8));
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        String[] times = line.split(" ");
        context.printJson(load.measure(seconds(times[0]), seconds(times[1])));
        context.out().flush();
      }
    } finally {
      load.rpc.close();
    }
  }

  private static Duration seconds(String text) {
    return Duration.ofMillis(Math.round(Double.parseDouble(text) * 1000));
  }

  private Map<String, @Nullable Object> measure(Duration warmUp, Duration measure) {
    Outcome outcome = new Outcome();
    LevelResult result =
        given.perSecond > 0
            ? new AtRate(outcome).run(warmUp, measure)
            : new Level(given.callers, null, (thread, threads) -> () -> loop(outcome))
                .run(warmUp, measure);
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("successes", result.latencies().requests());
    object.put("seconds", result.nanos() / 1e9);
    object.put("avg_ms", LevelResult.rounded(result.latencies().meanMillis(), 1000));
    for (int percentile : new int[] {50, 99}) {
      object.put(
          "p" + percentile + "_ms",
          LevelResult.rounded(result.latencies().percentileMillis(percentile), 1000));
    }
    object.put("max_ms", LevelResult.rounded(result.latencies().maxMillis(), 1000));
    object.put("BUSY", outcome.busy.sum());
    object.put("failures", outcome.failures.sum());
    return object;
  }

  /** What went wrong, in warm-up too. */
  private static final class Outcome {
    final LongAdder busy = new LongAdder();
    final LongAdder failures = new LongAdder();
  }

  // ---- Callers in a loop

  /** One operation with its retries; the number of its successes. */
  private int loop(Outcome outcome) throws InterruptedException {
    Attempts attempts = begin();
    while (true) {
      try {
        attempt(attempts);
        return 1;
      } catch (AttemptException failure) {
        if (failure.code() == ErrorCode.BUSY) {
          outcome.busy.increment();
        }
        try {
          sleep(attempts.failed(failure));
        } catch (SteleException end) {
          outcome.failures.increment();
          return 0;
        }
      }
    }
  }

  private void connect() throws InterruptedException {
    Attempts attempts =
        retries.begin(() -> "the first call", false, clock.nanos() + CONNECT_LIMIT.toNanos());
    while (true) {
      try {
        attempt(attempts);
        return;
      } catch (AttemptException failure) {
        sleep(attempts.failed(failure));
      }
    }
  }

  private Attempts begin() {
    return retries.begin(() -> "a call", false, clock.nanos() + given.deadline.toNanos());
  }

  private void attempt(Attempts attempts) throws InterruptedException {
    EmptyCall.check(
        calls
            .ping(
                given.server,
                PAYLOAD,
                EmptyCall.REPLY_BYTES,
                new CallLimits(
                    attempts.deadlineNanos(), attempts.attempt(), attempts.sinceFirstMillis()))
            .length());
  }

  private void sleep(long nanos) {
    long end = clock.nanos() + nanos;
    for (long left = nanos; left > 0; left = end - clock.nanos()) {
      LockSupport.parkNanos(left);
    }
  }

  // ---- Calls at a rate

  /**
   * Begins calls at random times, on the average at the given rate, without retries: a call that is
   * refused is lost. One that is answered after its deadline is no success.
   */
  private final class AtRate {
    private final Outcome outcome;
    private final Measurement measurement = new Measurement();
    private final Latencies latencies = new Latencies();

    AtRate(Outcome outcome) {
      this.outcome = outcome;
    }

    LevelResult run(Duration warmUp, Duration measure) {
      Thread arrivals = new Thread(this::begin, "bench-arrivals");
      arrivals.setDaemon(true);
      try {
        arrivals.start();
        Measurement.Span span = measurement.run(warmUp, measure, null);
        measurement.throwFailure();
        synchronized (latencies) {
          Latencies all = new Latencies();
          all.add(latencies);
          return new LevelResult(given.callers, span.nanos(), all, null);
        }
      } finally {
        measurement.end();
      }
    }

    private void begin() {
      SplittableRandom random = new SplittableRandom(clock.nanos());
      long next = clock.nanos();
      while (measurement.phase() != Measurement.Phase.END) {
        next += (long) (-Math.log(1 - random.nextDouble()) / given.perSecond * 1e9);
        sleep(next - clock.nanos());
        beginOne();
      }
    }

    private void beginOne() {
      long start = clock.nanos();
      long deadline = start + given.deadline.toNanos();
      calls.pingAsync(
          given.server,
          PAYLOAD,
          EmptyCall.REPLY_BYTES,
          new CallLimits(deadline, 1, 0),
          new Answer<Bytes>() {
            @Override
            public void answered(Bytes value) {
              long end = clock.nanos();
              if (measurement.phase() == Measurement.Phase.MEASURE && end - deadline < 0) {
                synchronized (latencies) {
                  latencies.record(end - start, 1);
                }
              }
            }

            @Override
            public void failed(AttemptException failure) {
              (failure.code() == ErrorCode.BUSY ? outcome.busy : outcome.failures).increment();
            }
          });
    }
  }
}
