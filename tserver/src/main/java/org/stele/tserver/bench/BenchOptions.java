package org.stele.tserver.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
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

  @Option(
      names = "--server-setting",
      paramLabel = "NAME=VALUE",
      arity = "1..*",
      description = "Settings of the server that is started for the benchmark.")
  private @Nullable Map<String, String> serverSettings;

  @Option(
      names = "--server-type",
      paramLabel = "T",
      description = "rpc.server.type of the server that is started for the benchmark.")
  private @Nullable String serverType;

  @Option(
      names = "--selectors",
      paramLabel = "N",
      split = ",",
      description = {
        "rpc.selectors of the server that is started for the benchmark. Several numbers: a server of",
        "each (stele-1, stele-2), measured in turn."
      })
  private @Nullable List<Integer> selectors;

  @Option(
      names = "--temp",
      paramLabel = "DIR",
      description = "Where the server's directory is made, and removed (default: the system's).")
  private @Nullable Path temp;

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

  /** The servers to measure, at least one. */
  List<ServerVariant> variants() {
    if (selectors == null || selectors.isEmpty()) {
      return List.of(variant(ServerVariant.STELE, null));
    }
    if (new HashSet<>(selectors).size() < selectors.size()) {
      throw new IllegalArgumentException("--selectors " + selectors + ": each number once");
    }
    return selectors.stream()
        .map(
            count ->
                variant(
                    selectors.size() == 1 ? ServerVariant.STELE : ServerVariant.STELE + "-" + count,
                    count))
        .toList();
  }

  /** The server of a benchmark that measures one. */
  ServerVariant variant() {
    List<ServerVariant> variants = variants();
    if (variants.size() > 1) {
      throw new IllegalArgumentException("--selectors " + selectors + ": one number here");
    }
    return variants.get(0);
  }

  private ServerVariant variant(String system, @Nullable Integer selectorCount) {
    return new ServerVariant(
        system, serverType, selectorCount, Objects.requireNonNullElse(serverSettings, Map.of()));
  }

  @Nullable Path temp() {
    return temp;
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
