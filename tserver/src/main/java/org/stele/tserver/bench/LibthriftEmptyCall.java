package org.stele.tserver.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.thrift.TException;
import org.apache.thrift.async.AsyncMethodCallback;
import org.apache.thrift.async.TAsyncClientManager;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TNonblockingSocket;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.layered.TFramedTransport;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.core.thrift.ServerService;

/**
 * The empty call of a server of libthrift, in a process of its own, by libthrift's clients: a
 * connection for each call under way, as they need it.
 */
final class LibthriftEmptyCall implements MeasuredSystem {
  private static final String HOST = "127.0.0.1";
  private static final int TIMEOUT_MILLIS = 30_000;

  private final LibthriftKind kind;
  private final CallMode mode;
  private final BenchProcess process;
  private final long pid;
  private final int port;

  private LibthriftEmptyCall(LibthriftKind kind, CallMode mode, BenchProcess process)
      throws IOException {
    this.kind = kind;
    this.mode = mode;
    this.process = process;
    Map<String, @Nullable Object> ready = process.awaitReady();
    pid = number(ready, "pid");
    port = Math.toIntExact(number(ready, "port"));
  }

  static LibthriftEmptyCall start(CommandContext context, LibthriftKind kind, CallMode mode)
      throws IOException {
    BenchProcess process =
        BenchProcess.start(
            context, "the server " + kind.system, List.of("libthrift-server", kind.name()));
    try {
      return new LibthriftEmptyCall(kind, mode, process);
    } catch (IOException | RuntimeException e) {
      process.close();
      throw e;
    }
  }

  private static long number(Map<String, @Nullable Object> ready, String key) {
    if (ready.get(key) instanceof Long number) {
      return number;
    }
    throw new CommandFailure("no " + key + " in " + ready);
  }

  @Override
  public String name() {
    return kind.system;
  }

  @Override
  public LevelResult run(int callers, Duration warmUp, Duration measure) {
    if (mode == CallMode.sync) {
      return new Level(callers, pid, (thread, threads) -> new Caller()).run(warmUp, measure);
    }
    TAsyncClientManager manager = manager();
    try {
      return new AsyncLevel(callers, pid, number -> new AsyncCaller(manager)).run(warmUp, measure);
    } finally {
      manager.stop();
    }
  }

  private static TAsyncClientManager manager() {
    try {
      return new TAsyncClientManager();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public Map<String, @Nullable Object> description() {
    Map<String, @Nullable Object> description = new LinkedHashMap<>();
    description.put("kind", "empty");
    return description;
  }

  @Override
  public void close() {
    process.close();
  }

  private static CommandFailure failed(Exception e) {
    return new CommandFailure("libthrift's client failed: " + e.getMessage(), e);
  }

  /** A thread's connection. */
  private final class Caller implements BenchOperation {
    private final TTransport transport;
    private final ServerService.Client client;

    Caller() {
      try {
        transport = new TFramedTransport(new TSocket(HOST, port, TIMEOUT_MILLIS));
        transport.open();
      } catch (TException e) {
        throw failed(e);
      }
      client = new ServerService.Client(new TCompactProtocol(transport));
    }

    @Override
    public int run() throws TException {
      EmptyCall.check(client.ping(EmptyCall.payloadBuffer(), EmptyCall.REPLY_BYTES).remaining());
      return 1;
    }

    @Override
    public void close() {
      transport.close();
    }
  }

  private final class AsyncCaller implements AsyncOperation {
    private final TNonblockingSocket transport;
    private final ServerService.AsyncClient client;

    AsyncCaller(TAsyncClientManager manager) {
      try {
        transport = new TNonblockingSocket(HOST, port, TIMEOUT_MILLIS);
      } catch (IOException | TException e) {
        throw failed(e);
      }
      client = new ServerService.AsyncClient(new TCompactProtocol.Factory(), manager, transport);
    }

    @Override
    public void begin(End end) {
      try {
        client.ping(
            EmptyCall.payloadBuffer(),
            EmptyCall.REPLY_BYTES,
            new AsyncMethodCallback<ByteBuffer>() {
              @Override
              public void onComplete(ByteBuffer reply) {
                EmptyCall.end(reply.remaining(), end);
              }

              @Override
              public void onError(Exception failure) {
                end.failed(failure);
              }
            });
      } catch (TException e) {
        end.failed(e);
      }
    }

    @Override
    public void close() {
      transport.close();
    }
  }
}
