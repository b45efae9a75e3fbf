package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.stele.core.time.ManualClock;

class LineTurnsTest {
  private final ManualClock clock = new ManualClock();
  private final LineTurns<String> turns = new LineTurns<>(2, clock);

  @Test
  void eachHasALineASecondAndItsOwnCount() {
    assertEquals(0, turns.take("a"));
    for (int i = 0; i < 100; i++) {
      assertEquals(LineTurns.SILENT, turns.take("a"));
    }
    assertEquals(0, turns.take("b"), "nobody is silenced by another one");
    clock.advance(Duration.ofSeconds(1));
    assertEquals(100, turns.take("a"));
    assertEquals(0, turns.take("b"));
  }

  @Test
  void manyShareOneLineAndAreForgotten() {
    assertEquals(0, turns.take("a"));
    assertEquals(LineTurns.SILENT, turns.take("a"));
    assertEquals(0, turns.take("b"));
    int lines = 0;
    for (int i = 0; i < 1000; i++) {
      lines += turns.take("c" + i) == LineTurns.SILENT ? 0 : 1;
    }
    assertEquals(1, lines);
    clock.advance(Duration.ofSeconds(2));
    assertEquals(0, turns.take("d"), "those that are silent by now make room");
    assertEquals(0, turns.take("e"));
    assertEquals(1000, turns.take("f"), "what they left out is told with the shared line");
    assertTrue(turns.take("g") == LineTurns.SILENT);
  }
}
