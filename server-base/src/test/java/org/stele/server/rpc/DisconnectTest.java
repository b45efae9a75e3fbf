package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.stele.core.wire.MessageHeader;

/** Clients that go at awkward moments. */
class DisconnectTest extends EveryServerKind {
  private static final int CONNECTIONS = Boolean.getBoolean("stele.long") ? 50_000 : 4_000;
  private static final int THREADS = 16;
  private static final int FRESH = 64;

  @Test
  void resetsAtAnyMomentCostOnlyTheirConnection() throws Exception {
    int connections = kind.fewer(CONNECTIONS);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      endpoint.service.scanPermits.release(connections);
      List<Future<?>> done = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(t);
        done.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < connections / THREADS; i++) {
                    cutSomewhere(endpoint, random);
                  }
                  return null;
                }));
      }
      for (Future<?> future : done) {
        future.get(100, TimeUnit.SECONDS);
      }
      for (int i = 0; i < FRESH; i++) {
        endpoint.assertServes();
      }
      endpoint.await("rpc.connections", 0);
      assertEquals(0, endpoint.count("rpc.loop.failures"));
      assertEquals(0, endpoint.count("rpc.failures"));
    } finally {
      threads.shutdownNow();
    }
  }

  private static void cutSomewhere(EndpointFixture endpoint, Random random) throws Exception {
    try (RawClient client = endpoint.connect()) {
      boolean plain = random.nextBoolean();
      if (!plain) {
        client.hello(1, 1, 0, "");
      }
      String method = random.nextInt(3) == 0 ? "scan" : "ping";
      int replySize = random.nextInt(4) == 0 ? 4 << 20 : 10;
      var args =
          method.equals("scan") ? EndpointFixture.scan("t") : EndpointFixture.ping(replySize);
      if (plain) {
        client.plainCall(MessageHeader.COMPACT, MessageHeader.CALL, method, 1, args);
      } else {
        client.call(1, method, args);
      }
      switch (random.nextInt(5)) {
        case 0 -> client.out.clear();
        case 1 -> client.flushOnly(random.nextInt(client.out.length()));
        case 2, 3 -> client.flush();
        default -> {
          client.flush();
          client.socket.shutdownOutput();
          client.readToEnd();
        }
      }
      if (random.nextBoolean()) {
        client.reset();
      }
    } catch (IOException e) {
      throw new IOException("a client could not do its part", e);
    }
  }

  @Test
  void aHalfClosedClientGetsItsReplies() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start();
        RawClient client = endpoint.greeted()) {
      client.call(1, "scan", EndpointFixture.scan("t"));
      client.call(2, "write", EndpointFixture.write());
      client.call(3, "ping", EndpointFixture.ping(8 << 20)).flush();
      client.socket.shutdownOutput();
      assertEquals(3, client.readReply());
      endpoint.service.scanPermits.release();
      assertEquals(1, client.readReply());
      endpoint.service.writes.take().reply(TestService.writeResult());
      assertEquals(2, client.readReply());
      assertEquals(0, client.readToEnd());
      endpoint.await("rpc.connections", 0);
    }
  }

  @Test
  void answersToClientsThatAreGoneAreDropped() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start()) {
      List<Call> calls = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        try (RawClient client = endpoint.greeted()) {
          client.call(1, "write", EndpointFixture.write()).flush();
          calls.add(endpoint.service.writes.take());
          client.reset();
        }
      }
      for (Call call : calls) {
        call.reply(TestService.writeResult());
      }
      endpoint.await("rpc.connections", 0);
      endpoint.assertServes();
    }
  }

  @Test
  void connectionsBeyondTheLimitAreClosed() throws Exception {
    try (EndpointFixture endpoint = EndpointFixture.start("rpc.connections", "10")) {
      List<RawClient> taken = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        taken.add(endpoint.greeted());
      }
      for (int i = 0; i < 20; i++) {
        try (RawClient refused = endpoint.connect()) {
          assertEquals(0, refused.readToEnd());
        }
      }
      assertEquals(20, endpoint.count("rpc.connections.refused"));
      for (RawClient client : taken) {
        client.call(1, "ping", EndpointFixture.ping(1)).flush();
        client.readReply();
        client.close();
      }
      endpoint.await("rpc.connections", 0);
      endpoint.assertServes();
    }
  }
}
