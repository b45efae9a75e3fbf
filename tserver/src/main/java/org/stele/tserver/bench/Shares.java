package org.stele.tserver.bench;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How evenly successes are divided. */
record Shares(List<Long> successes) {
  Shares {
    successes = List.copyOf(successes);
  }

  long total() {
    return successes.stream().mapToLong(Long::longValue).sum();
  }

  /** The least as a part of the most; 0 if there are none. */
  double minMaxRatio() {
    long most = successes.stream().mapToLong(Long::longValue).max().orElse(0);
    long least = successes.stream().mapToLong(Long::longValue).min().orElse(0);
    return most == 0 ? 0 : (double) least / most;
  }

  /** Jain's index: 1 if all have the same, 1/n if one has all. */
  double jain() {
    double squares = successes.stream().mapToDouble(value -> (double) value * value).sum();
    return squares == 0 ? 0 : (double) total() * total() / (successes.size() * squares);
  }

  Map<String, @Nullable Object> toJson() {
    long[] sorted = successes.stream().mapToLong(Long::longValue).sorted().toArray();
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("successes", successes);
    object.put("min", Arrays.stream(sorted).min().orElse(0));
    object.put("median", sorted.length == 0 ? 0 : sorted[sorted.length / 2]);
    object.put("max", Arrays.stream(sorted).max().orElse(0));
    object.put("min_max_ratio", LevelResult.rounded(minMaxRatio(), 10_000));
    object.put("jain", LevelResult.rounded(jain(), 10_000));
    return object;
  }
}
