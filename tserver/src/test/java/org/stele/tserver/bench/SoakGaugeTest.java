package org.stele.tserver.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SoakGaugeTest {
  @Test
  void oneMoreThanBeforeIsALeak() {
    assertTrue(new SoakGauge("threads", 20, 20, 0).isBack());
    assertTrue(new SoakGauge("threads", 20, 7, 0).isBack());
    SoakGauge leak = new SoakGauge("threads", 20, 21, 0);
    assertFalse(leak.isBack());
    assertEquals("the server keeps 21 threads, before the load it had 20", leak.leak());
  }

  @Test
  void slackIsAllowedAndTold() {
    assertTrue(new SoakGauge("heap bytes", 100, 110, 10).isBack());
    SoakGauge leak = new SoakGauge("heap bytes", 100, 111, 10);
    assertFalse(leak.isBack());
    assertEquals(
        "the server keeps 111 heap bytes, before the load it had 100 (10 more are allowed)",
        leak.leak());
  }

  @Test
  void heapIsTheTotalOfAHistogram() {
    String histogram =
        """
        4242:
         num     #instances         #bytes  class name (module)
        -------------------------------------------------------
           1:         12345        9876543  [B (java.base@17.0.1)
        Total        456789       23456789
        """;
    assertEquals(23_456_789L, LiveHeap.total(histogram));
    assertNull(LiveHeap.total("4242:\n"));
  }
}
