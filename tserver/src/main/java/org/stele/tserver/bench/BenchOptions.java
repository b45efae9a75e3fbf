package org.stele.tserver.bench;

import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What all benchmarks are told. */
final class BenchOptions {
  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "10",
      description = "How long each level is measured (default: 10).")
  private double seconds;

  @Option(
      names = "--warmup",
      paramLabel = "S",
      defaultValue = "20",
      description = "How long the load runs before the first level counts (default: 20).")
  private double warmup;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Of the random rows; the same seed gives the same rows (default: 1).")
  private long seed;

  Duration measure() {
    return duration("--seconds", seconds, 0.1);
  }

  Duration warmup() {
    return duration("--warmup", warmup, 0);
  }

  /** The server that is started. */
  ServerOptions server() {
    return server;
  }

  long seed() {
    return seed;
  }

  static Duration duration(String option, double seconds, double least) {
    if (!(seconds >= least && seconds <= 86_400)) {
      throw new IllegalArgumentException(
          option + " " + seconds + ": a number of seconds from " + least + " to 86400");
    }
    return Duration.ofMillis(Math.round(seconds * 1000));
  }

  /** Checks numbers of threads. */
  static List<Integer> threads(List<Integer> threads) {
    for (int count : threads) {
      positive("--threads", count, 4096);
    }
    return threads;
  }

  /** Checks numbers of calls in flight. */
  static List<Integer> inFlight(List<Integer> inFlight) {
    for (int count : inFlight) {
      positive("--in-flight", count, 65_536);
    }
    return inFlight;
  }

  static double factor(String option, double value) {
    if (!(value >= 0 && value <= 1000)) {
      throw new IllegalArgumentException(option + " " + value + ": a number from 0 to 1000");
    }
    return value;
  }

  static int positive(String option, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(option + " " + value + ": a number from 1 to " + most);
    }
    return value;
  }
}
