package org.stele.server.metrics;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * How long something took, since the start: microseconds within one percent, up to an hour. Takes
 * no memory before its first value. Thread-safe; recording waits for nobody.
 */
public final class TimeHistogram {
  private static final long MOST_MICROS = TimeUnit.HOURS.toMicros(1);
  private static final int DIGITS = 2;
  private static final double MICROS_PER_NANO = 1e-3;

  private volatile @Nullable ConcurrentHistogram histogram;

  /** Adds one value. */
  public void record(long nanos) {
    ConcurrentHistogram to = histogram;
    if (to == null) {
      to = make();
    }
    long micros = (long) (nanos * MICROS_PER_NANO);
    to.recordValue(Math.max(0, Math.min(micros, MOST_MICROS)));
  }

  private synchronized ConcurrentHistogram make() {
    ConcurrentHistogram made = histogram;
    if (made == null) {
      made = new ConcurrentHistogram(MOST_MICROS, DIGITS);
      histogram = made;
    }
    return made;
  }

  /**
   * Adds {@code NAME.count}, {@code .mean.us}, {@code .p50.us}, {@code .p99.us}, {@code .max.us}.
   */
  public void addTo(Map<String, Long> all, String name) {
    ConcurrentHistogram from = histogram;
    if (from == null) {
      return;
    }
    Histogram now = new Histogram(MOST_MICROS, DIGITS);
    now.add(from);
    all.put(name + ".count", now.getTotalCount());
    all.put(name + ".mean.us", Math.round(now.getMean()));
    all.put(name + ".p50.us", now.getValueAtPercentile(50));
    all.put(name + ".p99.us", now.getValueAtPercentile(99));
    all.put(name + ".max.us", now.getMaxValue());
  }
}
