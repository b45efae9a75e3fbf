package org.stele.server.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ServerRunTest {
  private final Stop stop = new Stop();
  private final List<String> closed = new ArrayList<>();

  private final List<String> ends = new CopyOnWriteArrayList<>();
  private final CountDownLatch forced = new CountDownLatch(1);
  private ServerRun.Limits limits =
      new ServerRun.Limits(Duration.ofDays(1), Duration.ofDays(1), Duration.ofDays(1));

  private int run(ServerRun.Body body) {
    return new ServerRun("test", stop, body, new Recorded(), limits).run();
  }

  /** A process that hears of its end. */
  private final class Recorded implements ProcessEnd {
    @Override
    public void halt(int exitCode) {
      ends.add("halt " + exitCode);
      forced.countDown();
    }

    @Override
    public void force() {
      ends.add("force");
      forced.countDown();
    }
  }

  @Test
  void anOrderlyEndIsASuccess() {
    stop.request("done");
    assertEquals(0, run(closer -> closer.add("part", () -> closed.add("part"))));
    assertEquals(List.of("part"), closed);
  }

  @Test
  void aFailedStartClosesWhatWasStarted() {
    int code =
        run(
            closer -> {
              closer.add("part", () -> closed.add("part"));
              throw new IOException("no disk");
            });
    assertEquals(1, code);
    assertEquals(List.of("part"), closed);
  }

  @Test
  void somethingBrokenIsAFailureAlsoIfTheStartThenFails() {
    int code =
        run(
            closer -> {
              stop.fatal("the log is broken", null);
              throw new IllegalStateException("because of it");
            });
    assertEquals(1, code);
    assertEquals("the log is broken", stop.reason().what());
  }

  @Test
  void aFailureToCloseIsAFailure() {
    stop.request("done");
    int code =
        run(
            closer ->
                closer.add(
                    "part",
                    () -> {
                      throw new IOException("disk");
                    }));
    assertEquals(1, code);
  }

  @Test
  void haltsIfClosingHangs() {
    limits = new ServerRun.Limits(Duration.ofMillis(1), Duration.ofDays(1), Duration.ofDays(1));
    stop.request("done");
    int code = run(closer -> closer.add("part", forced::await));
    assertEquals(0, code); // since here the process goes on
    assertEquals(List.of("halt 1"), ends);
  }

  @Test
  void forcesTheEndOfAProcessThatDoesNotExit() throws InterruptedException {
    limits = new ServerRun.Limits(Duration.ofDays(1), Duration.ofDays(1), Duration.ofMillis(1));
    stop.request("done");
    assertEquals(0, run(closer -> {}));
    forced.await();
    assertEquals(List.of("force"), ends);
  }

  @Test
  void saysWhatALackOfThreadsMeans() {
    assertEquals(
        "no more threads: the limit of processes (ulimit -u) or memory is too small (unable to"
            + " create native thread)",
        ServerRun.describe(new OutOfMemoryError("unable to create native thread")));
  }

  @Test
  void closesWithoutMoreThreadsThanItBeganWith() {
    Set<Thread> made = new HashSet<>();
    int code =
        run(
            closer -> {
              made.addAll(Thread.getAllStackTraces().keySet());
              closer.add(
                  "part",
                  () -> {
                    Set<Thread> later = new HashSet<>(Thread.getAllStackTraces().keySet());
                    later.removeAll(made);
                    later.forEach(thread -> closed.add(thread.getName()));
                  });
              throw new OutOfMemoryError("unable to create native thread");
            });
    assertEquals(1, code);
    assertEquals(List.of(), closed);
  }

  @Test
  void describesEachCauseOnce() {
    IOException failure =
        new IOException(
            "cannot listen on port 1: Address in use", new BindException("Address in use"));
    assertEquals("cannot listen on port 1: Address in use", ServerRun.describe(failure));
    assertEquals(
        "IllegalStateException: bug: NullPointerException",
        ServerRun.describe(new IllegalStateException("bug", new NullPointerException())));
  }
}
