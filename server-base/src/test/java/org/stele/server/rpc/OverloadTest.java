package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
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
      assertTrue(
          endpoint.service.lookupThreads.stream().distinct().count() <= 2,
          () -> "took turns: " + endpoint.service.lookupThreads);
    }
  }
}
