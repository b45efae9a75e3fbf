package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.process.StandaloneServer;

/**
 * Many more scans at a time than there are workers and places in the queue: those beyond are
 * answered BUSY at once, cheap calls go on, and when the load ends all is as before.
 */
class OverloadIT extends ForServerKinds {
  private static final int SCANNERS = 40;
  private static final Duration LOAD = TestForm.time(Duration.ofSeconds(5), Duration.ofMinutes(5));

  @TempDir private Path directory;

  @Test
  void excessIsRefusedAndLeavesNoTrace() {
    Map<String, String> settings = Map.of("rpc.workers", "2", "rpc.queue.calls", "4");
    try (StandaloneServer server = StandaloneServer.started(directory, settings);
        SteleClient client = server.client()) {
      String address = server.address();
      long pid = server.pid();
      VainScans scans = VainScans.of(client, server.port());
      client.tables().create("small");
      client.write("small", Mutation.of("a").put("f", "q", "v"));
      scans.start(1);
      Conditions.await(
          "a first scan", TestForm.generous(Duration.ofSeconds(5)), () -> scans.answered() > 0);
      ProcessGauges before = ProcessGauges.of(pid);
      try (scans) {
        scans.start(SCANNERS - 1);
        scans.await(50);
        long end = System.nanoTime() + LOAD.toNanos();
        while (System.nanoTime() < end) {
          assertQuick("ping", () -> client.servers().ping(address, Bytes.of("x"), 1));
          assertQuick("lookup", () -> client.lookup("small", "a"));
          assertQuick("write", () -> client.write("small", Mutation.of("b").put("f", "q", "v")));
          LockSupport.parkNanos(20_000_000);
        }
      }
      Conditions.await(
          "a lookup takes under 100 ms again",
          TestForm.generous(Duration.ofSeconds(5)),
          () -> nanos(() -> client.lookup("small", "a")) < 100_000_000);
      try (SteleClient other = server.client()) {
        assertEquals("v", other.lookup("small", "a").get("f", "q"));
      }
      Conditions.await(
          "descriptors are back at " + before.descriptors(),
          TestForm.generous(Duration.ofSeconds(5)),
          () -> ProcessGauges.of(pid).descriptors() <= before.descriptors() + 5);
      assertIdle(pid);
      Map<String, Long> counters = client.servers().status(address).counters();
      assertEquals(0L, counters.get("rpc.loop.failures"));
      assertEquals(0L, counters.get("rpc.failures"));
    }
  }

  private static void assertQuick(String what, Runnable call) {
    long nanos = nanos(call);
    assertTrue(
        nanos < TestForm.generous(Duration.ofSeconds(1)).toNanos(),
        () -> what + " takes " + Duration.ofNanos(nanos) + " meanwhile");
  }

  private static long nanos(Runnable call) {
    long begin = System.nanoTime();
    call.run();
    return System.nanoTime() - begin;
  }

  /** Nothing spins: the process uses far less than a processor. */
  private static void assertIdle(long pid) {
    Conditions.await(
        "the server is idle",
        TestForm.generous(Duration.ofSeconds(5)),
        () -> {
          Duration before = cpu(pid);
          LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
          return cpu(pid).minus(before).toMillis() < 300;
        });
  }

  private static Duration cpu(long pid) {
    return ProcessHandle.of(pid).orElseThrow().info().totalCpuDuration().orElseThrow();
  }
}
