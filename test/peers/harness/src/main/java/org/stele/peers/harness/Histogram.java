package org.stele.peers.harness;

/**
 * Latencies in nanoseconds, in 64 steps for each power of two: a quantile is off by less than 1.6
 * %. Not thread safe; every client thread fills its own and the results are added.
 */
final class Histogram {
  private static final int STEP_BITS = 6;
  private static final int STEPS = 1 << STEP_BITS;

  private final long[] counts = new long[(64 - STEP_BITS) * STEPS];
  private long count;
  private long sum;
  private long max;

  void record(long nanos) {
    counts[slot(nanos)]++;
    count++;
    sum += nanos;
    max = Math.max(max, nanos);
  }

  void add(Histogram other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    count += other.count;
    sum += other.sum;
    max = Math.max(max, other.max);
  }

  long count() {
    return count;
  }

  double meanMillis() {
    return count == 0 ? 0 : sum / 1e6 / count;
  }

  double maxMillis() {
    return max / 1e6;
  }

  double quantileMillis(double quantile) {
    long wanted = Math.max(1, (long) Math.ceil(quantile * count));
    long seen = 0;
    for (int i = 0; i < counts.length; i++) {
      seen += counts[i];
      if (seen >= wanted) {
        return middle(i) / 1e6;
      }
    }
    return 0;
  }

  private static int slot(long nanos) {
    if (nanos < STEPS) {
      return (int) Math.max(0, nanos);
    }
    int shift = 63 - Long.numberOfLeadingZeros(nanos) - STEP_BITS;
    return (shift + 1) * STEPS + (int) ((nanos >>> shift) - STEPS);
  }

  private static long middle(int slot) {
    if (slot < STEPS) {
      return slot;
    }
    int shift = slot / STEPS - 1;
    long low = (long) (slot % STEPS + STEPS) << shift;
    return low + (1L << shift) / 2;
  }
}
