package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.ManualClock;
import org.stele.core.wire.MessageHeader;

/** Deadlines and memory of connections. */
class ConnectionLimitsTest extends EveryServerKind {
  private static final String[] TIMEOUTS = {
    "rpc.idle.timeout",
    "60s",
    "rpc.partial.timeout",
    "10s",
    "rpc.write.timeout",
    "20s",
    "rpc.deadline.max",
    "100s"
  };

  @Test
  void idleConnectionsAreClosed() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = new EndpointFixture(clock, TIMEOUTS);
        RawClient silent = endpoint.connect();
        RawClient quiet = endpoint.greeted();
        RawClient working = endpoint.greeted()) {
      endpoint.await("rpc.connections", 3);
      clock.advance(Duration.ofSeconds(50));
      working.call(1, "write", EndpointFixture.write()).flush();
      Call call = endpoint.service.writes.take();
      clock.advance(Duration.ofSeconds(11));
      assertEquals(0, silent.readToEnd());
      assertEquals(0, quiet.readToEnd());
      clock.advance(Duration.ofSeconds(60));
      call.reply(TestService.writeResult());
      assertEquals(1, working.readReply(), "a client that waits for its answer is not idle");
      assertEquals(2, endpoint.count("rpc.connections.timed.out"));
    }
  }

  @Test
  void idleTimeBeginsWithTheAnswer() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = oneLoop(clock);
        RawClient working = endpoint.greeted()) {
      working.call(1, "write", EndpointFixture.write()).flush();
      Call call = endpoint.service.writes.take();
      for (int i = 0; i < 6; i++) {
        letLoopLook(endpoint, clock);
      }
      call.reply(TestService.writeResult());
      assertEquals(1, working.readReply());
      for (int i = 0; i < 5; i++) {
        letLoopLook(endpoint, clock);
      }
      working.call(2, "ping", EndpointFixture.ping(1)).flush();
      assertEquals(2, working.readReply(), "it was idle for less than the limit");
      clock.advance(Duration.ofMillis(610));
      assertEquals(0, working.readToEnd());
    }
  }

  @Test
  void idleTimeBeginsWhenTheReplyIsTaken() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = oneLoop(clock);
        RawClient slow = new RawClient(endpoint.server.address(), 4096)) {
      slow.hello(1, 1, 0, "").flush();
      slow.readReply();
      slow.call(1, "ping", EndpointFixture.ping(30 << 20)).flush();
      EndpointFixture.await(() -> endpoint.count("rpc.bytes.written") > 100_000);
      // Takes some of its reply again and again, for longer than a connection may be idle.
      int left = new DataInputStream(slow.input()).readInt();
      for (int i = 0; i < 5; i++) {
        clock.advance(Duration.ofMillis(150));
        endpoint.assertServes();
        long written = endpoint.count("rpc.bytes.written");
        slow.input().skipNBytes(4 << 20);
        left -= 4 << 20;
        EndpointFixture.await(() -> endpoint.count("rpc.bytes.written") > written + 1_000_000);
      }
      slow.input().skipNBytes(left);
      for (int i = 0; i < 5; i++) {
        letLoopLook(endpoint, clock);
      }
      slow.call(2, "ping", EndpointFixture.ping(1)).flush();
      assertEquals(2, slow.readReply());
    }
  }

  /**
   * Short times, so that the loop looks often: 600 ms idle, 100 ms for a frame, 200 ms to write.
   */
  private static EndpointFixture oneLoop(ManualClock clock) throws Exception {
    return new EndpointFixture(
        clock,
        "rpc.selectors",
        "1",
        "rpc.idle.timeout",
        "600ms",
        "rpc.partial.timeout",
        "100ms",
        "rpc.write.timeout",
        "200ms",
        "rpc.deadline.max",
        "1s");
  }

  /** Lets 110 ms pass, and the loop look at all connections then. */
  private static void letLoopLook(EndpointFixture endpoint, ManualClock clock) throws Exception {
    try (RawClient slow = endpoint.greeted()) {
      long read = endpoint.count("rpc.bytes.read");
      slow.raw(new byte[] {0}).flush();
      endpoint.await("rpc.bytes.read", read + 1);
      clock.advance(Duration.ofMillis(110)); // rpc.partial.timeout is 100 ms
      assertEquals(0, slow.readToEnd());
    }
  }

  @Test
  void framesThatAreNeverWholeAreClosed() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = new EndpointFixture(clock, TIMEOUTS);
        RawClient slow = endpoint.greeted();
        RawClient steady = endpoint.greeted()) {
      steady.call(1, "ping", EndpointFixture.ping(1));
      byte[] call = steady.out.toByteArray();
      steady.out.clear();
      int step = call.length / 2;
      long read = endpoint.count("rpc.bytes.read");
      for (int i = 0; i < 4; i++) {
        slow.raw(new byte[] {call[i]}).flush();
        steady.raw(Arrays.copyOfRange(call, 0, step)).flush();
        long expected = read + (i + 1) * (1L + step) + i * (long) (call.length - step);
        endpoint.await("rpc.bytes.read", expected);
        clock.advance(Duration.ofSeconds(3));
        steady.raw(Arrays.copyOfRange(call, step, call.length)).flush();
        assertEquals(1, steady.readReply(), "each frame has its own time");
      }
      assertEquals(0, slow.readToEnd());
      assertEquals(1, endpoint.count("rpc.connections.timed.out"));
      endpoint.assertServes();
    }
  }

  @Test
  void whoWaitsForMemoryIsNotSlow() throws Exception {
    ManualClock clock = new ManualClock();
    String[] settings = Arrays.copyOf(TIMEOUTS, TIMEOUTS.length + 2);
    settings[TIMEOUTS.length] = "rpc.read.bytes";
    settings[TIMEOUTS.length + 1] = "1M";
    List<RawClient> holders = new ArrayList<>();
    try (EndpointFixture endpoint = new EndpointFixture(clock, settings);
        RawClient client = endpoint.greeted()) {
      byte[] call = client.call(1, "ping", EndpointFixture.ping(1)).take();
      long read = endpoint.count("rpc.bytes.read");
      client.raw(Arrays.copyOf(call, 5)).flush();
      endpoint.await("rpc.bytes.read", read + 5);
      // frames that wait for the call before them fill the buffers
      for (int i = 0; i < 12; i++) {
        RawClient holder = endpoint.connect();
        holder.plainCall(
            MessageHeader.COMPACT, MessageHeader.CALL, "write", 1, EndpointFixture.write());
        holder.plainCall(
            MessageHeader.COMPACT,
            MessageHeader.CALL,
            "ping",
            2,
            EndpointFixture.ping(new byte[100_000], 1));
        holder.flush();
        holders.add(holder);
      }
      EndpointFixture.await(() -> endpoint.service.writes.size() >= 10);
      client.raw(Arrays.copyOfRange(call, 5, call.length)).flush();
      EndpointFixture.await(() -> endpoint.count("rpc.read.waits") > 0);
      clock.advance(Duration.ofSeconds(11));
      clock.advance(Duration.ofSeconds(11));
      for (int i = 0; i < holders.size(); i++) {
        endpoint.service.writes.take().reply(TestService.writeResult());
      }
      assertEquals(1, client.readReply(), "the server did not read, the client was not slow");
      assertEquals(0, endpoint.count("rpc.connections.timed.out"));
    } finally {
      for (RawClient holder : holders) {
        holder.close();
      }
    }
  }

  @Test
  void partsOfFramesThatWaitForEachOtherGo() throws Exception {
    ManualClock clock = new ManualClock();
    String[] settings = Arrays.copyOf(TIMEOUTS, TIMEOUTS.length + 2);
    settings[TIMEOUTS.length] = "rpc.read.bytes";
    settings[TIMEOUTS.length + 1] = "1M";
    List<RawClient> holders = new ArrayList<>();
    try (EndpointFixture endpoint = new EndpointFixture(clock, settings);
        RawClient client = endpoint.greeted()) {
      byte[] frame = client.call(1, "ping", EndpointFixture.ping(new byte[100_000], 1)).take();
      for (int i = 0; i < 20; i++) {
        holders.add(endpoint.greeted());
      }
      for (RawClient holder : holders) {
        holder.raw(Arrays.copyOf(frame, 62_000)).flush();
      }
      endpoint.await("rpc.in.flight", 0);
      EndpointFixture.await(() -> endpoint.count("rpc.read.bytes") > 1 << 20);
      for (RawClient holder : holders) {
        holder.raw(Arrays.copyOfRange(frame, 62_000, 63_000)).flush();
      }
      client.call(2, "ping", EndpointFixture.ping(1)).flush();
      EndpointFixture.await(() -> endpoint.count("rpc.read.waits") > holders.size());
      EndpointFixture.await(
          () -> {
            clock.advance(Duration.ofSeconds(11));
            return endpoint.server.counters().snapshot().keySet().stream()
                .anyMatch(counter -> counter.startsWith("rpc.calls."));
          });
      assertEquals(2, client.readReply());
    } finally {
      for (RawClient holder : holders) {
        holder.close();
      }
    }
  }

  @Test
  void clientsThatDoNotReadAreClosed() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = new EndpointFixture(clock, TIMEOUTS);
        RawClient deaf = new RawClient(endpoint.server.address(), 4096)) {
      deaf.hello(1, 1, 0, "").flush();
      deaf.readReply();
      deaf.call(1, "ping", EndpointFixture.ping(30 << 20)).flush();
      EndpointFixture.await(() -> endpoint.count("rpc.bytes.written") > 100_000);
      clock.advance(Duration.ofSeconds(15));
      endpoint.assertServes();
      assertEquals(0, endpoint.count("rpc.connections.timed.out"));
      EndpointFixture.await(
          () -> {
            clock.advance(Duration.ofSeconds(5)); // the socket may have been full only just now
            return endpoint.count("rpc.connections.timed.out") == 1;
          });
      assertTrue(deaf.readToEnd() < 30 << 20);
    }
  }

  @Test
  void unsentRepliesAreBounded() throws Exception {
    try (EndpointFixture endpoint =
        EndpointFixture.start("rpc.reply.bytes", "16M", "rpc.frame.max", "8M")) {
      List<RawClient> deaf = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        RawClient client = new RawClient(endpoint.server.address(), 4096);
        client.hello(1, 1, 0, "").flush();
        client.readReply();
        client.call(1, "ping", EndpointFixture.ping(7 << 20)).flush();
        deaf.add(client);
        endpoint.assertServes();
      }
      EndpointFixture.await(() -> endpoint.count("rpc.connections.stuck") >= 6);
      RawClient last = deaf.get(11);
      assertEquals(1, last.readReply(), "who came last is not the slowest");
      assertEquals(7 << 20, last.body(new ServerService.ping_result()).getSuccess().length);
      for (RawClient client : deaf) {
        client.close();
      }
      endpoint.await("rpc.connections", 0);
    }
  }

  @Test
  void whoTakesASmallReplySlowlyIsNotCutForTheRepliesOfOthers() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint =
            new EndpointFixture(
                clock, "rpc.reply.bytes", "16M", "rpc.frame.max", "8M", "rpc.write.timeout", "1m");
        RawClient patient = new RawClient(endpoint.server.address(), 4096)) {
      int large = 7 << 20;
      int withSystem;
      try (RawClient probe = new RawClient(endpoint.server.address(), 4096)) {
        withSystem = large - unsent(endpoint, probe, large);
      }
      endpoint.await("rpc.reply.bytes", 0);
      int unsent = unsent(endpoint, patient, withSystem + (1 << 20));
      assertTrue(unsent < 2 << 20, () -> unsent + " bytes are not with the operating system");
      clock.advance(Duration.ofSeconds(1));
      List<RawClient> deaf = new ArrayList<>();
      while (endpoint.count("rpc.connections.stuck") == 0) {
        assertTrue(deaf.size() < 12, () -> "nobody of " + deaf.size() + " is cut");
        RawClient client = new RawClient(endpoint.server.address(), 4096);
        client.hello(1, 1, 0, "").flush();
        client.readReply();
        client.call(1, "ping", EndpointFixture.ping(large)).flush();
        deaf.add(client);
        endpoint.assertServes();
        clock.advance(Duration.ofSeconds(2));
      }
      assertEquals(1, patient.readReply());
      for (RawClient client : deaf) {
        client.close();
      }
    }
  }

  /** Asks for a reply and takes nothing of it; returns what the operating system does not hold. */
  private static int unsent(EndpointFixture endpoint, RawClient client, int reply)
      throws Exception {
    client.hello(1, 1, 0, "").flush();
    client.readReply();
    client.call(1, "ping", EndpointFixture.ping(reply)).flush();
    EndpointFixture.await(() -> endpoint.count("rpc.reply.bytes") > 0);
    return (int) endpoint.count("rpc.reply.bytes");
  }

  @Test
  void aClientThatPipelinesAndDoesNotReadIsNotReadEither() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = new RawClient(endpoint.server.address(), 4096)) {
      client.hello(1, 1, 0, "").flush();
      client.readReply();
      int calls = 100;
      for (int i = 0; i < calls; i++) {
        client.call(i, "ping", EndpointFixture.ping(1 << 20));
      }
      client.flush();
      endpoint.assertServes();
      assertTrue(endpoint.count("rpc.calls.ping") < calls, "calls wait until replies are taken");
      for (int i = 0; i < calls; i++) {
        client.readReply();
        assertEquals(1 << 20, client.body(new ServerService.ping_result()).getSuccess().length);
      }
    }
  }

  @Test
  void manyLargeFramesAtOnceAllArriveWithinLittleMemory() throws Exception {
    try (EndpointFixture endpoint =
        EndpointFixture.start("rpc.read.bytes", "2M", "rpc.frame.max", "2M")) {
      int clients = 8;
      List<RawClient> all = new ArrayList<>();
      List<byte[]> rests = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        RawClient client = endpoint.greeted();
        client.call(i, "ping", EndpointFixture.ping(new byte[3 << 19], 1));
        byte[] call = client.out.toByteArray();
        client.out.clear();
        int half = call.length / 2;
        client.raw(Arrays.copyOf(call, half)).flush();
        all.add(client);
        rests.add(Arrays.copyOfRange(call, half, call.length));
      }
      endpoint.assertServes();
      List<Thread> senders = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        RawClient client = all.get(i);
        byte[] rest = rests.get(i);
        Thread sender =
            new Thread(
                () -> {
                  try {
                    client.raw(rest).flush();
                  } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                  }
                },
                "sender-" + i);
        sender.start();
        senders.add(sender);
      }
      for (int i = 0; i < clients; i++) {
        assertEquals(i, all.get(i).readReply());
        senders.get(i).join(10_000);
        all.get(i).close();
      }
      endpoint.await("rpc.connections", 0);
    }
  }
}
