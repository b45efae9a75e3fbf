package org.stele.tserver.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.stele.client.cli.CommandFailure;

class AsyncLevelTest {
  private static final Duration SHORT = Duration.ofMillis(200);

  @Test
  void keepsAsManyCallsInFlightAsItIsTold() {
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger closed = new AtomicInteger();
    try (Answers answers = new Answers()) {
      LevelResult result =
          new AsyncLevel(
                  7,
                  null,
                  number ->
                      new AsyncOperation() {
                        @Override
                        public void begin(End end) {
                          most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
                          answers.later(
                              () -> {
                                inFlight.decrementAndGet();
                                end.done();
                              });
                        }

                        @Override
                        public void close() {
                          closed.incrementAndGet();
                        }
                      })
              .run(SHORT, SHORT);
      assertEquals(7, result.threads());
      assertTrue(result.latencies().requests() > 0);
    }
    assertEquals(7, most.get());
    assertEquals(0, inFlight.get());
    assertEquals(7, closed.get());
  }

  @Test
  void callsThatAreAnsweredAtOnceDoNotDeepenTheStack() {
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger deepest = new AtomicInteger();
    AtomicInteger depth = new AtomicInteger();
    // The one slot begins on this thread, so the level measures only when it has let go.
    AsyncOperation atOnce =
        end -> {
          deepest.accumulateAndGet(depth.incrementAndGet(), Math::max);
          if (calls.incrementAndGet() < 100_000) {
            end.done();
          } else {
            end.failed(new IllegalStateException("enough"));
          }
          depth.decrementAndGet();
        };
    CommandFailure e =
        assertThrows(
            CommandFailure.class,
            () -> new AsyncLevel(1, null, number -> atOnce).run(SHORT, SHORT));
    assertEquals("the benchmark failed: enough", e.getMessage());
    assertEquals(100_000, calls.get());
    assertEquals(1, deepest.get());
  }

  @Test
  void failedCallEndsTheLevel() {
    CommandFailure e =
        assertThrows(
            CommandFailure.class,
            () ->
                new AsyncLevel(
                        2, null, number -> end -> end.failed(new IllegalStateException("lost")))
                    .run(Duration.ofMinutes(1), Duration.ofMinutes(1)));
    assertEquals("the benchmark failed: lost", e.getMessage());
  }

  @Test
  void medianIsTheMiddleOne() {
    assertEquals(0, Turns.median(List.of()));
    assertEquals(2, Turns.median(List.of(3.0, 1.0, 2.0)));
    assertEquals(2.5, Turns.median(List.of(3.0, 1.0, 2.0, 4.0)));
  }

  /** Answers calls on a thread of its own. */
  private static final class Answers implements AutoCloseable {
    private final ExecutorService thread =
        Executors.newSingleThreadExecutor(work -> new Thread(work, "answers"));

    void later(Runnable answer) {
      thread.execute(answer);
    }

    @Override
    public void close() {
      thread.shutdownNow();
    }
  }
}
