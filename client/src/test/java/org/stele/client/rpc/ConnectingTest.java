package org.stele.client.rpc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.client.rpc.RpcFixture.ping;
import static org.stele.client.rpc.RpcFixture.pingAsync;
import static org.stele.client.rpc.RpcFixture.quietPing;
import static org.stele.client.rpc.RpcFixture.threadsNamed;
import static org.stele.client.rpc.RpcFixture.within;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.time.Clock;

/** How connections are made, replaced and given up. */
class ConnectingTest {
  private final RpcFixture fixture = new RpcFixture();

  @AfterEach
  void closeAll() throws Exception {
    fixture.close();
  }

  @Test
  void namesAreResolvedAnewForEachConnection() throws Exception {
    FakeServer before = fixture.server(RpcFixture::echo);
    InetAddress second = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
    AtomicReference<InetAddress> address =
        new AtomicReference<>(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    AtomicInteger asked = new AtomicInteger();
    RpcClient client =
        fixture.client(
            1,
            "",
            Clock.system(),
            host -> {
              assertEquals("tablets.example", host);
              asked.incrementAndGet();
              return address.get();
            });
    ServerCalls calls = new ServerCalls(client);
    String name = "tablets.example:" + before.port();
    assertEquals(Bytes.of("a"), calls.ping(name, Bytes.of("a"), 0, within(5_000)));
    assertEquals(Bytes.of("b"), calls.ping(name, Bytes.of("b"), 0, within(5_000)));
    assertEquals(1, asked.get());

    before.close();
    await().until(() -> before.openConnections() == 0);
    FakeServer after = new FakeServer(RpcFixture.INSTANCE, second, before.port(), RpcFixture::echo);
    fixture.closing(after);
    assertThrows(AttemptException.class, () -> calls.ping(name, Bytes.of("c"), 0, within(5_000)));
    address.set(second);
    assertEquals(Bytes.of("d"), calls.ping(name, Bytes.of("d"), 0, within(5_000)));
    assertEquals(1, after.accepted());
    assertEquals(2, asked.get());
  }

  @Test
  void connectionMadeWhileTheClientIsClosedIsClosed() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    CountDownLatch resolving = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    RpcClient client =
        fixture.client(
            1,
            "",
            Clock.system(),
            host -> {
              resolving.countDown();
              awaitQuietly(closed);
              return InetAddress.getLoopbackAddress();
            });
    CompletableFuture<String> call =
        CompletableFuture.supplyAsync(() -> quietPing(client, server, "a"));
    assertTrue(resolving.await(10, TimeUnit.SECONDS));
    client.close();
    closed.countDown();
    await().until(call::isCompletedExceptionally);
    await().until(() -> server.openConnections() == 0);
    assertThrows(AttemptException.class, () -> ping(client, server, "b", 5_000));
    FakeServer other = fixture.server(RpcFixture::echo);
    assertThrows(AttemptException.class, () -> ping(client, other, "b", 5_000));
    assertEquals(0, other.accepted());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void idleConnectionClosedByTheServerIsReplacedWithoutAFailure() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    MovedClock clock = new MovedClock();
    RpcClient client = fixture.client(1, "", clock, NameResolver.system());
    ServerCalls calls = new ServerCalls(client);
    for (int i = 0; i < 3; i++) {
      pingAt(calls, server, clock);
      server.closeConnections();
      await().until(() -> server.openConnections() == 0);
      clock.move(Duration.ofSeconds(2));
    }
    assertEquals(3, server.accepted());
  }

  @Test
  void socketsOfFailedSetUpsAreClosed() throws Exception {
    FakeServer refusing = fixture.server(RpcFixture::echo);
    refusing.refuse(true);
    RpcClient client = fixture.client(1);
    for (int i = 0; i < 500; i++) {
      AttemptException failure =
          assertThrows(AttemptException.class, () -> ping(client, refusing, "a", 5_000));
      assertFalse(failure.isOutcomeUnknown());
    }
    FakeServer silent = fixture.server(RpcFixture::echo);
    silent.ignoreGreetings(1000);
    long start = System.nanoTime();
    assertThrows(AttemptException.class, () -> ping(client, silent, "a", 300));
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(2));
    await().until(() -> silent.openConnections() == 0 && refusing.openConnections() == 0);
  }

  @Test
  void callerWithoutTimeDoesNotFailThoseWhoWaitForTheSameConnection() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    server.ignoreGreetings(1);
    RpcClient client = fixture.client(1);
    CompletableFuture<Throwable> hasty = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () ->
                hasty.complete(
                    assertThrows(AttemptException.class, () -> ping(client, server, "hasty", 400))),
            "test-caller");
    caller.start();
    await().until(() -> server.accepted() == 1);
    assertEquals("patient", ping(client, server, "patient", 10_000));
    assertEquals(
        ErrorCode.UNAVAILABLE, ((AttemptException) hasty.get(10, TimeUnit.SECONDS)).code());
    assertEquals(2, server.accepted());
  }

  @Test
  void unknownNamesAndDeadPortsFailInTime() {
    RpcClient client = fixture.client(1);
    ServerCalls calls = new ServerCalls(client);
    for (String address : List.of("no-such-host.invalid:1", "127.0.0.1:1", "nonsense")) {
      long start = System.nanoTime();
      AttemptException failure =
          assertThrows(
              AttemptException.class, () -> calls.ping(address, Bytes.of("a"), 0, within(1000)));
      assertFalse(failure.isOutcomeUnknown());
      assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(3));
    }
  }

  // ---- Calls that wait for a connection without a thread

  @Test
  void callsToASilentServerShareOneTryAndOneThread() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    server.ignoreGreetings(1000);
    RpcClient client = fixture.client(1);
    List<CompletableFuture<String>> calls = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      calls.add(pingAsync(client, server, "a", 30_000));
    }
    CompletableFuture<String> hasty = pingAsync(client, server, "hasty", 100);
    await().until(() -> server.accepted() == 1);
    int threads = threadsNamed("stele-client-connect-").size();
    assertTrue(threads <= 2, threads + " threads");
    await().until(hasty::isCompletedExceptionally);
    assertFalse(calls.get(0).isDone(), "the connect timeout is not over");
    await().until(() -> calls.stream().allMatch(CompletableFuture::isCompletedExceptionally));
    assertEquals(1, server.accepted());
  }

  @Test
  void callsThatWaitedAreSentOverTheConnection() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    CountDownLatch resolved = new CountDownLatch(1);
    RpcClient client =
        fixture.client(
            1,
            "",
            Clock.system(),
            host -> {
              awaitQuietly(resolved);
              return InetAddress.getLoopbackAddress();
            });
    List<CompletableFuture<String>> calls = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      calls.add(pingAsync(client, server, "a" + i, 30_000));
    }
    resolved.countDown();
    for (int i = 0; i < 200; i++) {
      assertEquals("a" + i, calls.get(i).get(10, TimeUnit.SECONDS));
    }
    assertEquals(1, server.accepted());
  }

  @Test
  void nameThatDoesNotResolveHoldsOneThread() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    CountDownLatch resolved = new CountDownLatch(1);
    fixture.closing(resolved::countDown);
    RpcClient client =
        fixture.client(
            1,
            "",
            Clock.system(),
            host -> {
              awaitQuietly(resolved);
              return InetAddress.getLoopbackAddress();
            });
    for (int i = 0; i < 10; i++) {
      assertThrows(AttemptException.class, () -> ping(client, server, "a", 20));
    }
    assertEquals(1, threadsNamed("stele-client-connect-").size());
    resolved.countDown();
    assertEquals("b", ping(client, server, "b", 10_000));
  }

  private static void pingAt(ServerCalls calls, FakeServer server, Clock clock)
      throws InterruptedException {
    CallLimits limits = new CallLimits(clock.nanos() + TimeUnit.SECONDS.toNanos(5), 1, 0);
    assertEquals(Bytes.of("a"), calls.ping(server.address(), Bytes.of("a"), 0, limits));
  }
}
