package org.stele.client.rpc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.client.rpc.RpcFixture.PING;
import static org.stele.client.rpc.RpcFixture.echo;
import static org.stele.client.rpc.RpcFixture.echoed;
import static org.stele.client.rpc.RpcFixture.ping;
import static org.stele.client.rpc.RpcFixture.pingAsync;
import static org.stele.client.rpc.RpcFixture.quietPing;
import static org.stele.client.rpc.RpcFixture.within;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.Clock;
import org.stele.core.wire.MessageHeader;

/** Calls whose caller does not wait: each ends, and once. */
class AsyncCallTest {
  private final RpcFixture fixture = new RpcFixture();

  @AfterEach
  void closeAll() throws Exception {
    fixture.close();
  }

  @Test
  void asynchronousCallsEndAtTheirDeadline() {
    FakeServer server = fixture.server(request -> {});
    RpcClient client = fixture.client(1);
    long start = System.nanoTime();
    CompletableFuture<String> longer = pingAsync(client, server, "b", 30_000);
    CompletableFuture<String> shorter = pingAsync(client, server, "a", 200);
    await().atMost(Duration.ofSeconds(5)).until(shorter::isDone);
    assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(190));
    assertTrue(shorter.isCompletedExceptionally());
    assertFalse(longer.isDone());
    client.close();
    await().atMost(Duration.ofSeconds(5)).until(longer::isCompletedExceptionally);
  }

  private static AttemptException failure(CompletableFuture<?> call) {
    return (AttemptException)
        assertThrows(ExecutionException.class, () -> call.get(10, TimeUnit.SECONDS)).getCause();
  }

  private static <R> CompletableFuture<R> call(
      RpcClient client, FakeServer server, Method<ServerService.ping_args, R> method) {
    CompletableFuture<R> outcome = new CompletableFuture<>();
    client.callAsync(
        server.address(),
        method,
        arguments("a"),
        within(30_000),
        new Answer<>() {
          @Override
          public void answered(R value) {
            outcome.complete(value);
          }

          @Override
          public void failed(AttemptException failure) {
            outcome.completeExceptionally(failure);
          }
        });
    return outcome;
  }

  private static ServerService.ping_args arguments(String payload) {
    return new ServerService.ping_args(ByteBuffer.wrap(Bytes.of(payload).toArray()), 0);
  }

  // ---- What is thrown on the way

  @Test
  void callThatCannotBeEncodedIsABadRequestHoweverItIsMade() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    RpcClient client = fixture.client(1, "ä".repeat(200), Clock.system(), NameResolver.system());
    assertEquals(ErrorCode.BAD_REQUEST, failure(pingAsync(client, server, "a", 30_000)).code());
    assertEquals(ErrorCode.BAD_REQUEST, failure(pingAsync(client, server, "b", 30_000)).code());
    assertEquals(
        ErrorCode.BAD_REQUEST,
        assertThrows(AttemptException.class, () -> ping(client, server, "c", 30_000)).code());
    assertEquals(1, server.accepted());
  }

  @Test
  void errorsWhileACallIsEncodedEndIt() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    RpcClient client = fixture.client(1);
    Method<ServerService.ping_args, String> broken =
        new Method<>(
            "ping",
            (arguments, out, tools) -> {
              throw new StackOverflowError("test");
            },
            (name, reply, message, tools) -> "a");
    for (int i = 0; i < 2; i++) { // without a connection, with one
      AttemptException failure = failure(call(client, server, broken));
      assertEquals(ErrorCode.INTERNAL, failure.code());
      assertFalse(failure.isOutcomeUnknown());
    }
    assertEquals("b", ping(client, server, "b", 10_000));
  }

  /** Answers the calls together, when there are two. */
  private static FakeServer.Handler inPairs(BlockingQueue<FakeServer.Request> kept) {
    return request -> {
      kept.add(request);
      if (kept.size() == 2) {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        for (FakeServer.Request one : kept) {
          frames.writeBytes(one.replyFrame(echoed(one)));
        }
        kept.clear();
        request.peer.write(frames.toByteArray());
      }
    };
  }

  @Test
  void errorsWhileAReplyIsDecodedEndItsCallAndNoOther() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(inPairs(kept));
    RpcClient client = fixture.client(1);
    Method<ServerService.ping_args, String> broken =
        new Method<>(
            "ping",
            (arguments, out, tools) -> tools.writer().write(out, MessageHeader.COMPACT, arguments),
            (name, reply, message, tools) -> {
              throw new OutOfMemoryError("test");
            });
    CompletableFuture<String> first = call(client, server, broken);
    await().dontCatchUncaughtExceptions().until(() -> kept.size() == 1);
    CompletableFuture<String> second =
        CompletableFuture.supplyAsync(() -> quietPing(client, server, "second"));
    assertEquals(ErrorCode.INTERNAL, failure(first).code());
    assertTrue(failure(first).isOutcomeUnknown());
    assertEquals("second", second.get(10, TimeUnit.SECONDS));
    assertEquals(1, server.accepted());
  }

  @Test
  void repliesThatMakeNoSenseInAnyWayBreakTheConnection() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    RpcClient client = fixture.client(1);
    Method<ServerService.ping_args, String> broken =
        new Method<>(
            "ping",
            (arguments, out, tools) -> tools.writer().write(out, MessageHeader.COMPACT, arguments),
            (name, reply, message, tools) -> {
              throw new IndexOutOfBoundsException("beyond the frame");
            });
    assertEquals(ErrorCode.UNAVAILABLE, failure(call(client, server, broken)).code());
    assertEquals("b", ping(client, server, "b", 10_000));
    assertEquals(2, server.accepted());
  }

  /** Throws whatever it hears. */
  private static void callOfAThrower(RpcClient client, FakeServer server) {
    client.callAsync(
        server.address(),
        PING,
        arguments("thrower"),
        within(30_000),
        new Answer<>() {
          @Override
          public void answered(ServerService.ping_result value) {
            throw new IllegalStateException("test: thrown by an answer");
          }

          @Override
          public void failed(AttemptException failure) {
            throw new StackOverflowError("test: thrown by an answer");
          }
        });
  }

  @Test
  void answerThatThrowsHarmsNoOtherCall() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(inPairs(kept));
    RpcClient client = fixture.client(1);
    callOfAThrower(client, server);
    await().dontCatchUncaughtExceptions().until(() -> kept.size() == 1);
    CompletableFuture<String> second =
        CompletableFuture.supplyAsync(() -> quietPing(client, server, "second"));
    assertEquals("second", second.get(10, TimeUnit.SECONDS));
    assertEquals(1, server.accepted());
  }

  @Test
  void answerThatThrowsWhenTheConnectionIsLostHarmsNoOtherCall() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(kept::add);
    RpcClient client = fixture.client(1);
    List<CompletableFuture<String>> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      callOfAThrower(client, server);
      others.add(pingAsync(client, server, "other", 30_000));
    }
    await().dontCatchUncaughtExceptions().until(() -> kept.size() == 6);
    server.closeConnections();
    for (CompletableFuture<String> other : others) {
      assertEquals(ErrorCode.UNAVAILABLE, failure(other).code());
    }
  }

  // ---- No I/O thread can be started

  private Connection connectionWithoutIoThread(FakeServer server) throws Exception {
    ExecutorService resolving = Executors.newSingleThreadExecutor();
    fixture.closing(resolving::shutdownNow);
    Connector connector =
        new Connector(
            RpcFixture.options(1, ""),
            Clock.system(),
            NameResolver.system(),
            resolving,
            work ->
                new Thread(work, "never started") {
                  @Override
                  public synchronized void start() {
                    throw new OutOfMemoryError("unable to create native thread (test)");
                  }
                },
            () -> RpcFixture.INSTANCE);
    return connector.connect(
        ServerAddress.parse(server.address()), System.nanoTime() + TimeUnit.SECONDS.toNanos(10));
  }

  private static byte[] frame(Connection connection) {
    return new Codec(RpcFixture.options(1, ""))
        .encode(connection, "s", PING, arguments("a"), within(30_000))
        .toByteArray();
  }

  @Test
  void asynchronousCallFailsIfNoIoThreadCanBeStarted() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    Connection connection = connectionWithoutIoThread(server);
    CompletableFuture<byte[]> outcome = new CompletableFuture<>();
    byte[] frame = frame(connection);
    connection.callAsync(
        frame,
        frame.length,
        within(30_000).deadlineNanos(),
        new PendingCall.Listener() {
          @Override
          public void replied(byte[] reply) {
            outcome.complete(reply);
          }

          @Override
          public void failed(AttemptException failure) {
            outcome.completeExceptionally(failure);
          }
        });
    AttemptException failure = failure(outcome);
    assertTrue(failure.isRetryable());
    assertTrue(failure.getMessage().contains("native thread"), failure.getMessage());
    assertFalse(connection.isOpen());
    await().until(() -> server.openConnections() == 0);
  }

  @Test
  void callsLeftWithoutAReaderFailIfNoIoThreadCanBeStarted() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(kept::add);
    Connection connection = connectionWithoutIoThread(server);
    CompletableFuture<byte[]> reader = call(connection);
    FakeServer.Request first = kept.take();
    CompletableFuture<byte[]> other = call(connection);
    kept.take();
    echo(first);
    assertTrue(reader.get(10, TimeUnit.SECONDS).length > 0);
    assertTrue(failure(other).isOutcomeUnknown());
    assertFalse(connection.isOpen());
  }

  private static CompletableFuture<byte[]> call(Connection connection) {
    byte[] frame = frame(connection);
    CompletableFuture<byte[]> outcome = new CompletableFuture<>();
    new Thread(
            () -> {
              try {
                outcome.complete(
                    connection.call(frame, frame.length, within(30_000).deadlineNanos()));
              } catch (InterruptedException | RuntimeException | Error e) {
                outcome.completeExceptionally(e);
              }
            },
            "test-caller")
        .start();
    return outcome;
  }
}
