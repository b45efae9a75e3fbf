package org.stele.client.rpc;

import static java.util.Objects.requireNonNull;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.stele.client.rpc.RpcFixture.PING;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bytes;
import org.stele.core.thrift.ServerService;
import org.stele.core.wire.MessageHeader;

/** What becomes of connections to servers that nobody calls any more, and of calls just then. */
class UnusedServerTest {
  private final RpcFixture fixture = new RpcFixture();
  private final HookedClock clock = new HookedClock();

  @AfterEach
  void closeAll() throws Exception {
    fixture.close();
  }

  @Test
  void connectionsOfServersThatAreNoLongerUsedAreClosed() throws Exception {
    FakeServer gone = fixture.server(RpcFixture::echo);
    FakeServer used = fixture.server(RpcFixture::echo);
    FakeServer added = fixture.server(RpcFixture::echo);
    RpcClient client = client(1);
    ping(client, gone);
    ping(client, used);
    clock.move(Duration.ofMinutes(6));
    ping(client, used);
    ping(client, added);
    await().until(() -> gone.openConnections() == 0);
    assertEquals(1, used.openConnections());
    ping(client, gone); // it is back
    assertEquals(2, gone.accepted());
    assertEquals(1, used.accepted());
  }

  private RpcClient client(int connections) {
    return fixture.client(connections, "", clock, NameResolver.system());
  }

  private CallLimits limits() {
    return new CallLimits(clock.nanos() + TimeUnit.SECONDS.toNanos(30), 1, 0);
  }

  private void ping(RpcClient client, FakeServer server) throws InterruptedException {
    assertEquals(
        Bytes.of("a"), new ServerCalls(client).ping(server.address(), Bytes.of("a"), 0, limits()));
  }

  private CompletableFuture<String> pingAsync(RpcClient client, FakeServer server) {
    return pingAsync(client, server, PING);
  }

  private CompletableFuture<String> pingAsync(
      RpcClient client,
      FakeServer server,
      Method<ServerService.ping_args, ServerService.ping_result> method) {
    CompletableFuture<String> reply = new CompletableFuture<>();
    client.callAsync(
        server.address(),
        method,
        arguments(),
        limits(),
        new Answer<>() {
          @Override
          public void answered(ServerService.ping_result result) {
            reply.complete(Bytes.of(result.bufferForSuccess()).toUtf8());
          }

          @Override
          public void failed(AttemptException failure) {
            reply.completeExceptionally(failure);
          }
        });
    return reply;
  }

  private static ServerService.ping_args arguments() {
    return new ServerService.ping_args(ByteBuffer.wrap(Bytes.of("a").toArray()), 0);
  }

  // ---- Calls that begin while the server is dropped

  /** A ping before which another server is added, so that those unused are dropped. */
  private Method<ServerService.ping_args, ServerService.ping_result> pingAfterDropping(
      RpcClient client, FakeServer added) {
    AtomicBoolean dropping = new AtomicBoolean();
    return new Method<>(
        "ping",
        (arguments, out, tools) -> {
          if (!dropping.getAndSet(true)) { // in another thread, for this one's tools are in use
            CompletableFuture.runAsync(() -> quietPing(client, added)).join();
          }
          tools.writer().write(out, MessageHeader.COMPACT, arguments);
        },
        (server, reply, message, tools) -> {
          ServerService.ping_result result = new ServerService.ping_result();
          tools.read(reply, message, result);
          return result;
        });
  }

  private void quietPing(RpcClient client, FakeServer server) {
    try {
      ping(client, server);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void callWhoseServerIsDroppedBeforeItIsSentTakesAnotherConnection(boolean async)
      throws Exception {
    FakeServer unused = fixture.server(RpcFixture::echo);
    FakeServer added = fixture.server(RpcFixture::echo);
    RpcClient client = client(1);
    ping(client, unused);
    clock.move(Duration.ofMinutes(6));
    Method<ServerService.ping_args, ServerService.ping_result> method =
        pingAfterDropping(client, added);
    if (async) {
      assertEquals("a", pingAsync(client, unused, method).get(10, TimeUnit.SECONDS));
    } else {
      client.call(unused.address(), method, arguments(), limits());
    }
    assertEquals(2, unused.accepted());
    await().until(() -> unused.openConnections() == 1);
    ping(client, unused);
    assertEquals(2, unused.accepted());
  }

  /** Runs {@code action} when the clock is read for the n-th time by the current thread. */
  private static final class HookedClock extends MovedClock {
    private @Nullable Thread reader;
    private @Nullable Runnable action;
    private int readings;

    void atReading(int n, Runnable whatToDo) {
      readings = n;
      action = whatToDo;
      reader = Thread.currentThread();
    }

    @Override
    public long nanos() {
      if (Thread.currentThread() == reader && --readings == 0) {
        requireNonNull(action).run();
      }
      return super.nanos();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void callThatBeginsWhileItsServerIsDroppedIsNotCut(int place) throws Exception {
    for (int reading = 1; reading <= 12; reading++) {
      BlockingQueue<FakeServer.Request> requests = new LinkedBlockingQueue<>();
      FakeServer unused = fixture.server(requests::add);
      FakeServer added = fixture.server(RpcFixture::echo);
      RpcClient client = client(2);
      for (int i = 0; i < 2; i++) {
        CompletableFuture<String> first = onPlace(i, () -> pingAsync(client, unused));
        RpcFixture.echo(requests.take());
        assertEquals("a", first.get(10, TimeUnit.SECONDS));
      }
      clock.move(Duration.ofMinutes(6));
      AtomicReference<CompletableFuture<String>> call = new AtomicReference<>();
      CallLimits limits = limits();
      clock.atReading(
          reading,
          () -> {
            call.set(onPlace(place, () -> pingAsync(client, unused)));
            await().until(() -> !requests.isEmpty());
          });
      new ServerCalls(client).ping(added.address(), Bytes.of("a"), 0, limits);
      RpcFixture.echo(requests.take());
      assertEquals("a", call.get().get(10, TimeUnit.SECONDS), "at reading " + reading);
      client.close();
    }
  }

  /** Runs it in a thread that keeps to this place of two. */
  private static <R> R onPlace(int place, Supplier<R> work) {
    CompletableFuture<R> result = new CompletableFuture<>();
    Runnable run = () -> result.complete(work.get());
    Thread thread = new Thread(run, "test-caller");
    while (thread.getId() % 2 != place) {
      thread = new Thread(run, "test-caller");
    }
    thread.start();
    return result.join();
  }

  // ---- The end of the client

  @Test
  void callsOnAReplacedConnectionEndWithTheClient() throws Exception {
    FakeServer silent = fixture.server(request -> {});
    RpcClient client = client(1);
    CompletableFuture<String> patient = pingAsync(client, silent);
    CallLimits soon = new CallLimits(clock.nanos() + TimeUnit.MILLISECONDS.toNanos(100), 1, 0);
    ServerCalls calls = new ServerCalls(client);
    assertThrows( // and so retires the connection
        AttemptException.class, () -> calls.ping(silent.address(), Bytes.of("a"), 0, soon));
    CompletableFuture<String> other = pingAsync(client, silent);
    await().until(() -> silent.accepted() == 2);
    assertFalse(patient.isDone());
    client.close();
    await().atMost(Duration.ofSeconds(5)).until(patient::isCompletedExceptionally);
    await().atMost(Duration.ofSeconds(5)).until(other::isCompletedExceptionally);
  }
}
