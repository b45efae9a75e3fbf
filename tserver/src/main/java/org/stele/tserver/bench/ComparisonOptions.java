package org.stele.tserver.bench;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What benchmarks are told that can measure other systems beside Stele. */
final class ComparisonOptions {
  @Option(
      names = "--baseline",
      paramLabel = "libthrift",
      description = {
        "Measure the empty call of Apache libthrift's TThreadedSelectorServer (1 and 2 selectors) and",
        "THsHaServer in turn with Stele, level by level, each in a process of its own."
      })
  private @Nullable Baseline baseline;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "1",
      description = "How often all levels are measured (default: 1).")
  private int rounds;

  @Nullable Baseline baseline() {
    return baseline;
  }

  int rounds() {
    return BenchOptions.positive("--rounds", rounds, 1000);
  }
}
