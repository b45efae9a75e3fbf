package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.stele.core.error.ErrorCode;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;

/** The end of an endpoint. */
class ShutdownTest extends EveryServerKind {
  @Test
  void waitingCallsAreAnsweredUnavailableAndRunningOnesFinish() throws Exception {
    EndpointFixture endpoint = EndpointFixture.start("rpc.workers", "1");
    try (RawClient client = endpoint.greeted();
        RawClient idle = endpoint.greeted()) {
      client.call(1, "scan", EndpointFixture.scan("runs")).flush();
      EndpointFixture.await(() -> endpoint.service.scansBegun.get() == 1);
      client.call(2, "scan", EndpointFixture.scan("waits")).flush();
      endpoint.await("rpc.queue.calls", 1);
      CompletableFuture<Void> closing = CompletableFuture.runAsync(endpoint.server::close);
      assertEquals(2, client.readReply());
      assertEquals(ErrorCode.UNAVAILABLE, client.reply.refusal().code());
      assertEquals(0, idle.readToEnd());

      client.call(3, "ping", EndpointFixture.ping(1)).flush();
      assertEquals(3, client.readReply());
      assertEquals(ErrorCode.UNAVAILABLE, client.reply.refusal().code());
      assertThrows(IOException.class, () -> endpoint.connect().close(), "connection refused");

      endpoint.service.scanPermits.release();
      assertEquals(1, client.readReply());
      assertFalse(client.reply.isRefused());
      assertEquals(0, client.readToEnd());
      closing.get(10, TimeUnit.SECONDS);
      endpoint.server.close();
      assertNoThreads();
    }
  }

  @Test
  void callsThatAreNeverAnsweredDoNotHoldItUp() throws Exception {
    EndpointFixture endpoint = EndpointFixture.start();
    try (RawClient client = endpoint.greeted()) {
      client.call(1, "write", EndpointFixture.write()).flush();
      endpoint.service.writes.take();
      CompletableFuture.runAsync(endpoint.server::close).get(30, TimeUnit.SECONDS);
      assertEquals(0, client.readToEnd());
      assertNoThreads();
    }
  }

  @Test
  void thePortIsFreeAgainAtOnce() throws Exception {
    InetSocketAddress address;
    try (EndpointFixture first = EndpointFixture.start();
        RawClient client = first.greeted()) {
      assertTrue(client.socket.isConnected());
      address = first.server.address();
    }
    try (EndpointFixture second =
        EndpointFixture.start("rpc.port", String.valueOf(address.getPort()))) {
      second.assertServes();
    }
  }

  @Test
  void anEndpointThatWasNeverStartedCloses() throws Exception {
    RpcServer server = new RpcServer(Settings.of(Map.of()), new Methods(), Clock.system(), "", 1);
    server.close();
    server.close();
    assertThrows(IllegalStateException.class, server::start);
    assertThrows(IllegalStateException.class, server::address);
  }

  private static void assertNoThreads() {
    EndpointFixture.await(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("rpc-")));
  }
}
