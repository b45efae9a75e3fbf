package org.stele.tserver.bench;

import org.HdrHistogram.Histogram;

/** Latencies of calls, within 0.1 % of the true value, and their number. Used by one thread. */
final class Latencies {
  private static final long LEAST_NANOS = 100;
  private static final long MOST_NANOS = 120_000_000_000L;
  private static final int DIGITS = 3;

  private final Histogram histogram = new Histogram(LEAST_NANOS, MOST_NANOS, DIGITS);
  private long requests;
  private long sumNanos;
  private long maxNanos;

  /** One call that took so long and was so many requests. */
  void record(long nanos, int count) {
    histogram.recordValue(Math.min(nanos, MOST_NANOS));
    requests += count;
    sumNanos += nanos;
    maxNanos = Math.max(maxNanos, nanos);
  }

  void add(Latencies other) {
    histogram.add(other.histogram);
    requests += other.requests;
    sumNanos += other.sumNanos;
    maxNanos = Math.max(maxNanos, other.maxNanos);
  }

  long calls() {
    return histogram.getTotalCount();
  }

  long requests() {
    return requests;
  }

  double meanMillis() {
    return calls() == 0 ? 0 : sumNanos / 1e6 / calls();
  }

  double percentileMillis(double percentile) {
    long nanos = histogram.getValueAtPercentile(percentile);
    return Math.min(nanos, maxNanos) / 1e6;
  }

  double maxMillis() {
    return maxNanos / 1e6;
  }
}
