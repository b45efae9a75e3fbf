package org.stele.tserver.bench;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.Answer;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.RpcClient;
import org.stele.client.rpc.RpcOptions;
import org.stele.client.rpc.ServerCalls;
import org.stele.core.data.Bytes;
import org.stele.core.net.TlsContext;
import org.stele.core.net.TlsOptions;
import org.stele.core.time.Clock;

/** The empty call of a Stele server, by the call layer of Stele's client: no retries. */
final class SteleEmptyCall implements MeasuredSystem {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);
  private static final long CALL_NANOS = Duration.ofSeconds(30).toNanos();
  private static final int MAX_REPLY_BYTES = 1 << 20;

  /** To the server, at most. */
  static final int CONNECTIONS = 2;

  private final BenchServer server;
  private final ServerVariant variant;
  private final CallMode mode;
  private final String address;
  private final Clock clock = Clock.system();
  private final RpcClient rpc;
  private final ServerCalls calls;
  private final Bytes payload = EmptyCall.payload();

  private SteleEmptyCall(
      BenchServer server, ServerVariant variant, CallMode mode, @Nullable TlsContext tls) {
    this.server = server;
    this.variant = variant;
    this.mode = mode;
    address = server.address();
    rpc =
        new RpcClient(
            new RpcOptions(
                CONNECT_LIMIT,
                CONNECTIONS,
                MAX_REPLY_BYTES,
                "",
                new SecureRandom().nextLong(),
                tls),
            clock,
            () -> "");
    calls = new ServerCalls(rpc);
  }

  static SteleEmptyCall start(
      CommandContext context, ServerOptions options, ServerVariant variant, CallMode mode)
      throws IOException {
    BenchServer server = BenchServer.open(context, options, variant);
    try {
      TlsOptions tls = server.clientOptions().tls();
      return new SteleEmptyCall(
          server, variant, mode, tls == null ? null : TlsContext.forClient(tls));
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return variant.system();
  }

  @Override
  public LevelResult run(int callers, Duration warmUp, Duration measure) {
    return switch (mode) {
      case sync ->
          new Level(callers, server.pid(), (thread, threads) -> this::call).run(warmUp, measure);
      case async ->
          new AsyncLevel(callers, server.pid(), number -> this::begin).run(warmUp, measure);
    };
  }

  @Override
  public Map<String, @Nullable Object> description() {
    Map<String, @Nullable Object> description = new LinkedHashMap<>(variant.endpoint());
    description.put("kind", "empty");
    ProcessHoldings holdings = ProcessHoldings.of(server.pid());
    description.put("resident_kib", holdings == null ? null : holdings.residentKib());
    return description;
  }

  /** host:port of the server's endpoint. */
  String address() {
    return address;
  }

  /** How many connections the server has, ours among them. */
  long connections() throws InterruptedException {
    return calls.status(address, limits()).counters().getOrDefault("rpc.connections", 0L);
  }

  private int call() throws InterruptedException {
    EmptyCall.check(calls.ping(address, payload, EmptyCall.REPLY_BYTES, limits()).length());
    return 1;
  }

  private void begin(AsyncOperation.End end) {
    calls.pingAsync(
        address,
        payload,
        EmptyCall.REPLY_BYTES,
        limits(),
        new Answer<Bytes>() {
          @Override
          public void answered(Bytes value) {
            EmptyCall.end(value.length(), end);
          }

          @Override
          public void failed(AttemptException failure) {
            end.failed(failure);
          }
        });
  }

  private CallLimits limits() {
    return new CallLimits(clock.nanos() + CALL_NANOS, 1, 0);
  }

  @Override
  public void close() {
    rpc.close();
    server.close();
  }
}
