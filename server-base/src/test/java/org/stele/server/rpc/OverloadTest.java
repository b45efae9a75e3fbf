package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.ManualClock;
import org.stele.core.wire.CallHeader;

/** More calls than workers. */
class OverloadTest extends EveryServerKind {
  private static final long START = 1_000_000_000;

  private static CallHeader due(long id, long seconds) {
    return new CallHeader()
        .reset(id, 7)
        .setDeadline(EndpointFixture.BOOT_ID, START + seconds * 1_000_000_000);
  }

  /** One worker, which is at a call that waits. */
  private static EndpointFixture busyEndpoint(ManualClock clock, RawClient[] client, String... more)
      throws Exception {
    List<String> settings = new ArrayList<>(List.of("rpc.workers", "1", "rpc.deadline.max", "1h"));
    settings.addAll(List.of(more));
    EndpointFixture endpoint = new EndpointFixture(clock, settings.toArray(String[]::new));
    client[0] = endpoint.greeted();
    client[0].call(due(1000, 3000), "scan", EndpointFixture.scan("first")).flush();
    EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 1);
    endpoint.service.scanOrder.clear();
    return endpoint;
  }

  @Test
  void theEarliestDeadlineIsNextAndOlderAttemptsWinTies() throws Exception {
    RawClient[] clients = new RawClient[1];
    try (EndpointFixture endpoint = busyEndpoint(new ManualClock(0, START), clients)) {
      RawClient client = clients[0];
      client.call(due(1, 30), "scan", EndpointFixture.scan("30"));
      client.call(due(2, 10), "scan", EndpointFixture.scan("10"));
      client.call(due(3, 20), "scan", EndpointFixture.scan("20, young"));
      client.call(due(4, 20).setRetry(500, 2), "scan", EndpointFixture.scan("20, old"));
      client.call(due(5, 20), "scan", EndpointFixture.scan("20, younger")).flush();
      endpoint.await("rpc.queue.calls", 5);
      endpoint.service.scanPermits.release(6);
      for (int i = 0; i < 6; i++) {
        client.readReply();
      }
      assertEquals(
          List.of("10", "20, old", "20, young", "20, younger", "30"),
          List.copyOf(endpoint.service.scanOrder));
    }
  }

  @Test
  void aFullQueueEvictsTheLatestDeadline() throws Exception {
    RawClient[] clients = new RawClient[1];
    try (EndpointFixture endpoint =
        busyEndpoint(new ManualClock(0, START), clients, "rpc.queue.calls", "3")) {
      RawClient client = clients[0];
      for (int seconds : new int[] {10, 40, 20}) {
        client.call(due(seconds, seconds), "scan", EndpointFixture.scan("t"));
      }
      client.call(due(30, 30), "scan", EndpointFixture.scan("t")).flush();
      assertEquals(40, client.readReply(), "the latest deadline goes");
      SteleException busy = client.reply.refusal();
      assertEquals(ErrorCode.BUSY, busy.code());
      assertTrue(
          busy.retryAfterMillis() >= 10 && busy.retryAfterMillis() <= 5000, busy.getMessage());
      client.call(due(50, 50), "scan", EndpointFixture.scan("t")).flush();
      assertEquals(50, client.readReply(), "be it the new one");
      endpoint.service.scanPermits.release(4);
      assertEquals(1000, client.readReply());
      assertEquals(10, client.readReply());
      assertEquals(20, client.readReply());
      assertEquals(30, client.readReply());
      assertFalse(client.reply.isRefused());
      assertEquals(2, endpoint.count("rpc.busy"));
    }
  }

  @Test
  void theQueueIsBoundedInBytes() throws Exception {
    RawClient[] clients = new RawClient[1];
    try (EndpointFixture endpoint =
        busyEndpoint(new ManualClock(0, START), clients, "rpc.queue.bytes", "1M")) {
      RawClient client = clients[0];
      String large = "x".repeat(400_000);
      client.call(due(1, 10), "scan", EndpointFixture.scan(large));
      client.call(due(2, 20), "scan", EndpointFixture.scan(large));
      client.call(due(3, 30), "scan", EndpointFixture.scan(large)).flush();
      assertEquals(3, client.readReply());
      assertEquals(ErrorCode.BUSY, client.reply.refusal().code());
      client.call(due(4, 5), "scan", EndpointFixture.scan("x".repeat(2_000_000))).flush();
      assertEquals(2, client.readReply());
      assertEquals(1, client.readReply());
      endpoint.service.scanPermits.release(2);
      assertEquals(1000, client.readReply());
      assertEquals(4, client.readReply(), "one call may be larger than the queue");
      assertFalse(client.reply.isRefused());
    }
  }

  @Test
  void framesAreCountedUntilTheirCallsAreAnswered() throws Exception {
    try (EndpointFixture endpoint =
            EndpointFixture.start("rpc.workers", "64", "rpc.read.bytes", "2M");
        RawClient client = endpoint.greeted()) {
      int calls = 40;
      String large = "x".repeat(100_000);
      for (int i = 0; i < calls; i++) {
        client.call(i, "scan", EndpointFixture.scan(large));
      }
      client.flush();
      EndpointFixture.await(
          () -> endpoint.service.scansBegun.get() + endpoint.count("rpc.busy") == calls);
      assertTrue(endpoint.service.scansBegun.get() >= 12, "as many run as there is memory for");
      assertTrue(endpoint.service.scansBegun.get() <= 20, "all of them hold their frames");
      assertTrue(endpoint.count("rpc.read.bytes") >= 12L * large.length());
      endpoint.assertServes();
      try (RawClient other = endpoint.greeted()) {
        other.call(1, "settings", new ServerService.settings_args()).flush();
        other.readReply();
        assertFalse(other.reply.isRefused(), "the system class is served");
      }
      endpoint.service.scanPermits.release(calls + 1);
      int busy = 0;
      for (int i = 0; i < calls; i++) {
        client.readReply();
        if (client.reply.isRefused()) {
          busy++;
          assertEquals(ErrorCode.BUSY, client.reply.refusal().code());
          assertTrue(client.reply.refusal().retryAfterMillis() >= 10);
        }
      }
      assertEquals(endpoint.count("rpc.busy"), busy);
      endpoint.await("rpc.read.bytes", 0);
      client.call(99, "scan", EndpointFixture.scan(large)).flush();
      assertEquals(99, client.readReply());
      assertFalse(client.reply.isRefused(), "there is room again");
    }
  }

  @Test
  void oneLargeFrameMayRunBeyondTheLimitAndTheNextWaits() throws Exception {
    ManualClock clock = new ManualClock(0, START);
    try (EndpointFixture endpoint =
            new EndpointFixture(
                clock,
                "rpc.read.bytes",
                "1M",
                "rpc.frame.max",
                "8M",
                "rpc.partial.timeout",
                "10s");
        RawClient first = endpoint.greeted();
        RawClient second = endpoint.greeted();
        RawClient small = endpoint.greeted()) {
      first.call(1, "scan", EndpointFixture.scan("x".repeat(3 << 20))).flush();
      EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 1);
      byte[] next = second.call(2, "scan", EndpointFixture.scan("y".repeat(3 << 20))).take();
      second.raw(Arrays.copyOf(next, 1 << 20)).flush();
      EndpointFixture.await(() -> endpoint.count("rpc.read.waits") > 0);
      endpoint.assertServes();
      small.call(3, "scan", EndpointFixture.scan("small")).flush();
      EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 2);
      clock.advance(Duration.ofSeconds(11));
      endpoint.assertServes();
      assertEquals(0, endpoint.count("rpc.connections.timed.out"));
      endpoint.service.scanPermits.release(3);
      second.raw(Arrays.copyOfRange(next, 1 << 20, next.length)).flush();
      assertEquals(1, first.readReply());
      assertFalse(first.reply.isRefused());
      assertEquals(2, second.readReply());
      assertFalse(second.reply.isRefused(), () -> second.reply.refusal().getMessage());
      assertEquals(3, small.readReply());
      endpoint.await("rpc.read.bytes", 0);
    }
  }

  @Test
  void callsOfTheSelectorThreadAreChargedWhileOthersWait() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.workers", "1");
        RawClient busy = endpoint.greeted();
        RawClient heavy = RawClient.greetedFrom("127.0.0.3", endpoint.server.address());
        RawClient light = RawClient.greetedFrom("127.0.0.2", endpoint.server.address())) {
      busy.call(1, "scan", EndpointFixture.scan("first")).flush();
      EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 1);
      for (int i = 0; i < 100; i++) {
        heavy.call(i, "ping", EndpointFixture.ping(1000)).flush();
        assertEquals(i, heavy.readReply());
      }
      assertEquals(0, endpoint.count("rpc.queue.calls"), "nobody waits: nobody is charged");
      light.call(1, "scan", EndpointFixture.scan("light")).flush();
      endpoint.await("rpc.queue.calls", 1);
      int sent = 0;
      while (endpoint.count("rpc.queue.calls") < 2) {
        assertTrue(sent < 1_000_000, "it is never charged");
        for (int i = 0; i < 100; i++) {
          heavy.call(sent++, "ping", EndpointFixture.ping(1));
        }
        heavy.flush();
        while (heavy.input().available() > 0) {
          heavy.readReply();
        }
      }
      int total = sent;
      light.call(2, "ping", EndpointFixture.ping(1)).flush();
      assertEquals(2, light.readReply(), "who has had less is served at once");
      endpoint.service.scanPermits.release(2);
      endpoint.await("rpc.queue.calls", 0);
      EndpointFixture.await(() -> endpoint.count("rpc.calls.ping") == 101 + total);
      heavy.call(sent, "ping", EndpointFixture.ping(1)).flush();
      long last = heavy.readReply();
      while (last != sent) {
        last = heavy.readReply();
      }
    }
  }

  @Test
  void expiredCallsAreAnsweredAndNeverRun() throws Exception {
    ManualClock clock = new ManualClock(0, START);
    RawClient[] clients = new RawClient[1];
    try (EndpointFixture endpoint = busyEndpoint(clock, clients)) {
      RawClient client = clients[0];
      client.call(due(1, 10), "scan", EndpointFixture.scan("expires"));
      client.call(due(2, 100), "scan", EndpointFixture.scan("runs")).flush();
      endpoint.await("rpc.queue.calls", 2);
      clock.advance(Duration.ofSeconds(11));
      assertEquals(1, client.readReply(), "while the worker is busy");
      assertEquals(ErrorCode.DEADLINE_EXCEEDED, client.reply.refusal().code());
      endpoint.service.scanPermits.release(2);
      assertEquals(1000, client.readReply());
      assertEquals(2, client.readReply());
      assertEquals(List.of("runs"), List.copyOf(endpoint.service.scanOrder));
      assertEquals(1, endpoint.count("rpc.expired"));
    }
  }

  @Test
  void principalsTakeTurns() throws Exception {
    RawClient[] clients = new RawClient[1];
    try (EndpointFixture endpoint = busyEndpoint(new ManualClock(0, START), clients);
        RawClient light = RawClient.greetedFrom("127.0.0.2", endpoint.server.address())) {
      RawClient heavy = clients[0];
      for (int i = 1; i <= 3; i++) {
        heavy.call(due(i, 10), "scan", EndpointFixture.scan("heavy"));
      }
      heavy.flush();
      endpoint.await("rpc.queue.calls", 3);
      light.call(due(10, 30), "scan", EndpointFixture.scan("light")).flush();
      endpoint.await("rpc.queue.calls", 4);
      endpoint.service.scanPermits.release(5);
      for (int i = 0; i < 4; i++) {
        heavy.readReply();
      }
      light.readReply();
      assertEquals(
          List.of("heavy", "light", "heavy", "heavy"), List.copyOf(endpoint.service.scanOrder));
    }
  }

  @Test
  void tenantsThatAreTrustedArePrincipals() throws Exception {
    for (boolean trusted : new boolean[] {true, false}) {
      RawClient[] clients = new RawClient[1];
      try (EndpointFixture endpoint =
          busyEndpoint(new ManualClock(0, START), clients, "rpc.tenant.trusted", "" + trusted)) {
        RawClient client = clients[0];
        for (int i = 1; i <= 3; i++) {
          client.call(due(i, 10).setTenant("a"), "scan", EndpointFixture.scan("a"));
        }
        client.call(due(4, 20).setTenant("b"), "scan", EndpointFixture.scan("b")).flush();
        endpoint.await("rpc.queue.calls", 4);
        endpoint.service.scanPermits.release(5);
        for (int i = 0; i < 5; i++) {
          client.readReply();
        }
        assertEquals(
            trusted ? List.of("a", "b", "a", "a") : List.of("a", "a", "a", "b"),
            List.copyOf(endpoint.service.scanOrder));
      }
    }
  }

  @Test
  void weightsAreReadByNameOrAddress() throws Exception {
    Weights weights = new Weights("gold=3,127.0.0.2=10");
    assertEquals(3, weights.of("gold"));
    assertEquals(1, weights.of("silver"));
    assertEquals(10, weights.of(InetAddress.getByName("127.0.0.2")));
    assertEquals(1, new Weights("").of("gold"));
  }

  @Test
  void refusedCallsAreToldDifferentTimes() {
    RetryTimes times = new RetryTimes(START);
    List<Integer> waits = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waits.add(times.next(START, 20_000_000));
    }
    assertEquals(List.of(20, 40, 60, 80, 100), waits);
    assertEquals(20, times.next(START + 1_000_000_000, 20_000_000), "there is room again");
    assertEquals(10, new RetryTimes(START).next(START, 1000), "not at once");
    for (int i = 0; i < 1000; i++) {
      times.next(START, 20_000_000);
    }
    assertEquals(5000, times.next(START, 20_000_000), "not later than that");
  }

  @Test
  void workersThatHaveNothingToDoEnd() throws Exception {
    try (EndpointFixture endpoint =
            EndpointFixture.start("rpc.workers", "8", "rpc.workers.idle.timeout", "50ms");
        RawClient client = endpoint.greeted()) {
      for (int round = 0; round < 3; round++) {
        int begun = endpoint.service.scansBegun.get();
        for (int i = 0; i < 8; i++) {
          client.call(i, "scan", EndpointFixture.scan("t"));
        }
        client.flush();
        EndpointFixture.await(() -> endpoint.service.scansBegun.get() == begun + 8);
        assertEquals(8, endpoint.count("rpc.workers"));
        endpoint.service.scanPermits.release(8);
        for (int i = 0; i < 8; i++) {
          client.readReply();
        }
        endpoint.await("rpc.workers", 0);
      }
      endpoint.assertServes();
    }
  }

  @Test
  void workersComeAndTheLastBusyOneIsTakenFirst() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.workers", "4");
        RawClient client = endpoint.greeted()) {
      for (int i = 0; i < 4; i++) {
        client.call(i, "scan", EndpointFixture.scan("t"));
      }
      client.flush();
      EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 4);
      assertEquals(4, endpoint.count("rpc.workers"));
      endpoint.service.scanPermits.release(4);
      for (int i = 0; i < 4; i++) {
        client.readReply();
      }
      for (int i = 0; i < 50; i++) {
        client.call(i, "lookup", EndpointFixture.lookup(new byte[] {1})).flush();
        client.readReply();
      }
      // A worker that was stopped between its answer and its rest has another take the next call.
      List<Long> counts =
          new ArrayList<>(
              endpoint.service.lookupThreads.stream()
                  .collect(Collectors.groupingBy(name -> name, Collectors.counting()))
                  .values());
      counts.sort(Comparator.reverseOrder());
      assertTrue(
          counts.stream().limit(2).mapToLong(Long::longValue).sum() >= 40,
          () -> "took turns: " + endpoint.service.lookupThreads);
    }
  }
}
