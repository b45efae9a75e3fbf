package org.stele.tserver.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;

/**
 * Measures systems in turn, level by level, so that what changes on the machine meets all of them
 * alike. Every system's server runs all the time; only one is under load.
 */
final class Turns implements AutoCloseable {
  /** At the begin of each level, for threads to start and the number of callers to settle. */
  static final Duration SETTLE = Duration.ofSeconds(1);

  private final CommandContext context;
  private final List<MeasuredSystem> systems = new ArrayList<>();

  /** Of each level, by system: calls per second, one for each round. */
  private final Map<Integer, Map<String, List<Double>>> rates = new LinkedHashMap<>();

  Turns(CommandContext context) {
    this.context = context;
  }

  /** Adds a system, which {@link #close} closes. */
  void add(MeasuredSystem system) {
    systems.add(system);
  }

  /**
   * Warms every system up at the first level, then measures.
   *
   * @param columns of the table for people, after the system's name
   */
  void run(
      List<Integer> levels,
      int rounds,
      Duration warmUp,
      Duration measure,
      List<ResultTable.Column> columns) {
    ResultTable table = new ResultTable(context, withSystem(columns));
    if (!warmUp.isZero()) {
      systems.forEach(system -> system.run(levels.get(0), warmUp, Duration.ofMillis(1)));
    }
    for (int round = 1; round <= rounds; round++) {
      for (int callers : levels) {
        for (MeasuredSystem system : systems) {
          LevelResult result = system.run(callers, SETTLE, measure);
          rates
              .computeIfAbsent(callers, level -> new LinkedHashMap<>())
              .computeIfAbsent(system.name(), name -> new ArrayList<>())
              .add(result.requestsPerSecond());
          Map<String, @Nullable Object> object = new LinkedHashMap<>();
          object.put("system", system.name());
          object.putAll(result.toJson());
          object.putAll(system.description());
          object.put("round", round);
          table.print(object);
        }
      }
    }
    sayRatios();
  }

  private List<ResultTable.Column> withSystem(List<ResultTable.Column> columns) {
    List<ResultTable.Column> all = new ArrayList<>();
    if (systems.size() > 1) {
      all.add(new ResultTable.Column("system", "system", 0));
    }
    all.addAll(columns);
    return all;
  }

  /** The first system beside the best of the others, by medians. */
  private void sayRatios() {
    if (systems.size() < 2) {
      return;
    }
    String first = systems.get(0).name();
    rates.forEach(
        (callers, bySystem) -> {
          double own = median(bySystem.getOrDefault(first, List.of()));
          String best = "";
          double most = 0;
          for (Map.Entry<String, List<Double>> other : bySystem.entrySet()) {
            double rate = median(other.getValue());
            if (!other.getKey().equals(first) && rate > most) {
              best = other.getKey();
              most = rate;
            }
          }
          context.say(
              String.format(
                  Locale.ROOT,
                  "at %d: %s has %.2f times the calls of %s",
                  callers,
                  first,
                  most == 0 ? 0 : own / most,
                  best));
        });
  }

  static double median(List<Double> values) {
    if (values.isEmpty()) {
      return 0;
    }
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** Ends all systems. */
  @Override
  public void close() {
    RuntimeException failure = null;
    for (MeasuredSystem system : systems) {
      try {
        system.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    systems.clear();
    if (failure != null) {
      throw failure;
    }
  }
}
