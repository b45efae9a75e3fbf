package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.stele.core.time.ManualClock;

/** What the endpoint says about itself. */
class CountersTest {
  private static final long SECOND_MICROS = 1_000_000;

  @Test
  void timesOfCallsOnWorkers() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = new EndpointFixture(clock, "rpc.workers", "1");
        RawClient client = endpoint.greeted()) {
      client.call(1, "scan", EndpointFixture.scan("first")).flush();
      EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 1);
      client.call(2, "scan", EndpointFixture.scan("second")).flush();
      endpoint.await("rpc.queue.calls", 1);
      assertTrue(endpoint.count("rpc.queue.bytes") > 0);
      clock.advance(Duration.ofSeconds(2));
      endpoint.service.scanPermits.release(1);
      client.readReply();
      EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 2);
      clock.advance(Duration.ofSeconds(3));
      endpoint.service.scanPermits.release(1);
      client.readReply();
      endpoint.await("rpc.time.scan.reply.count", 2);
      endpoint.await("rpc.time.scan.service.count", 2);
      Map<String, Long> all = endpoint.server.counters().snapshot();
      assertEquals(2, all.get("rpc.calls.scan"));
      assertAbout(2 * SECOND_MICROS, all.get("rpc.time.scan.queue.max.us"));
      assertAbout(3 * SECOND_MICROS, all.get("rpc.time.scan.service.max.us"));
      assertAbout(5 * SECOND_MICROS, all.get("rpc.time.scan.reply.max.us"));
      assertEquals(0, all.get("rpc.queue.bytes"));
      assertEquals(0, all.get("rpc.evicted"));
    }
  }

  @Test
  void someOfTheCallsOnSelectorThreadsAreTimed() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      for (int i = 0; i < 32; i++) {
        client.call(i, "ping", EndpointFixture.ping(1)).flush();
        client.readReply();
      }
      endpoint.await("rpc.time.ping.service.count", 2);
      Map<String, Long> all = endpoint.server.counters().snapshot();
      assertEquals(32, all.get("rpc.calls.ping"));
      assertEquals(2, all.get("rpc.time.ping.reply.count"));
      assertFalse(all.containsKey("rpc.time.ping.queue.count"), "they do not wait");
      assertTrue(all.get("rpc.connections") >= 1);
      assertTrue(all.get("rpc.bytes.read") > 32 && all.get("rpc.bytes.written") > 32);
      assertTrue(all.containsKey("rpc.selector.busy.permille"));
    }
  }

  private static void assertAbout(long expected, long actual) {
    assertTrue(actual >= expected && actual < expected * 1.02, expected + " and " + actual);
  }
}
