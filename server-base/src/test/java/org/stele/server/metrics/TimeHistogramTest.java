package org.stele.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class TimeHistogramTest {
  private static Map<String, Long> of(TimeHistogram histogram) {
    Map<String, Long> all = new TreeMap<>();
    histogram.addTo(all, "t");
    return all;
  }

  @Test
  void tellsPercentilesWithinOnePercent() {
    TimeHistogram histogram = new TimeHistogram();
    assertEquals(Map.of(), of(histogram));
    for (int i = 1; i <= 1000; i++) {
      histogram.record(i * 10_000L);
    }
    Map<String, Long> all = of(histogram);
    assertEquals(1000, all.get("t.count"));
    assertEquals(5005, all.get("t.mean.us"), 60);
    assertEquals(5000, all.get("t.p50.us"), 60);
    assertEquals(9900, all.get("t.p99.us"), 110);
    assertEquals(10_000, all.get("t.max.us"), 110);
  }

  @Test
  void valuesThatCannotBeAreCountedAtTheEnds() {
    TimeHistogram histogram = new TimeHistogram();
    histogram.record(-5);
    histogram.record(Long.MAX_VALUE);
    assertEquals(2, of(histogram).get("t.count"));
    assertEquals(0, of(histogram).get("t.p50.us"));
  }

  @Test
  void manyThreadsLoseNothing() throws Exception {
    TimeHistogram histogram = new TimeHistogram();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int j = 0; j < 10_000; j++) {
                  histogram.record(j * 1000L);
                }
              },
              "recorder-" + i);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(40_000, of(histogram).get("t.count"));
  }
}
