package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.stele.core.thrift.ServerService;

class WorkerPoolTest {
  private static final int CALLS = Boolean.getBoolean("stele.long") ? 2_000_000 : 5_000;
  private static final long IDLE_NANOS = 30_000;

  /** A call that comes just when the last worker ends finds a worker all the same. */
  @Test
  void aCallNeverWaitsForAWorkerThatEnds() throws Exception {
    AtomicInteger done = new AtomicInteger();
    Methods methods =
        new Methods()
            .add(
                "ServerService",
                "settings",
                Execution.WORKER,
                false,
                ServerService.settings_args::new,
                (args, call) -> {
                  call.reply(new ServerService.settings_result());
                  done.incrementAndGet();
                });
    Random random = new Random(1);
    try (EndpointParts parts = new EndpointParts(methods, 1, IDLE_NANOS)) {
      for (int i = 1; i <= CALLS; i++) {
        parts.users.submit(parts.oneway("settings"));
        long begin = System.nanoTime();
        while (done.get() < i) {
          assertTrue(
              System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(20),
              "call " + i + " waits, and there are " + parts.users.threads() + " workers");
          Thread.onSpinWait();
        }
        long next = System.nanoTime() + IDLE_NANOS + random.nextInt(100_000);
        while (System.nanoTime() < next) { // until about the time at which the worker ends
          Thread.onSpinWait();
        }
      }
    }
  }
}
