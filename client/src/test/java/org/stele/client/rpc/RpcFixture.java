package org.stele.client.rpc;

import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bytes;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.Clock;

/**
 * Clients and fake servers of a test, and pings between them. Closed, no client has a thread left.
 */
final class RpcFixture {
  static final String INSTANCE = "instance-1";
  static final Method<ServerService.ping_args, ServerService.ping_result> PING =
      Method.ofStructures("ping", ServerService.ping_result::new);

  private final List<AutoCloseable> opened = new ArrayList<>();

  void close() throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
    // what tests throw in these threads on purpose is no failure of theirs
    await().dontCatchUncaughtExceptions().until(() -> threadsNamed("stele-client-").isEmpty());
  }

  /** To be closed at the end of the test, before what was given here earlier. */
  void closing(AutoCloseable one) {
    opened.add(0, one);
  }

  static List<String> threadsNamed(String prefix) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith(prefix))
        .toList();
  }

  FakeServer server(FakeServer.Handler handler) {
    FakeServer server = new FakeServer(INSTANCE, handler);
    closing(server);
    return server;
  }

  RpcClient client(int connections) {
    return client(connections, "tenant", Clock.system(), NameResolver.system());
  }

  RpcClient client(int connections, String tenant, Clock clock, NameResolver names) {
    RpcClient client = new RpcClient(options(connections, tenant), clock, names, () -> INSTANCE);
    closing(client);
    return client;
  }

  static RpcOptions options(int connections, String tenant) {
    return new RpcOptions(Duration.ofSeconds(2), connections, 4 << 20, tenant, 42);
  }

  static CallLimits within(long millis) {
    return new CallLimits(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis), 1, 0);
  }

  static String ping(RpcClient client, FakeServer server, String payload, long millis)
      throws InterruptedException {
    return new ServerCalls(client)
        .ping(server.address(), Bytes.of(payload), 0, within(millis))
        .toUtf8();
  }

  static String quietPing(RpcClient client, FakeServer server, String payload) {
    try {
      return ping(client, server, payload, 30_000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static CompletableFuture<String> pingAsync(
      RpcClient client, FakeServer server, String payload, long millis) {
    CompletableFuture<String> reply = new CompletableFuture<>();
    client.callAsync(
        server.address(),
        PING,
        new ServerService.ping_args(ByteBuffer.wrap(Bytes.of(payload).toArray()), 0),
        within(millis),
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

  static void echo(FakeServer.Request request) throws Exception {
    request.reply(echoed(request));
  }

  static ServerService.ping_result echoed(FakeServer.Request request) throws Exception {
    ServerService.ping_args arguments = request.arguments(new ServerService.ping_args());
    ServerService.ping_result result = new ServerService.ping_result();
    result.setSuccess(arguments.bufferForPayload());
    return result;
  }
}
