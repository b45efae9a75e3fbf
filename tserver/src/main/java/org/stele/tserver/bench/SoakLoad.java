package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.thrift.TException;
import org.stele.client.cli.CommandFailure;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.RpcClient;
import org.stele.client.rpc.RpcOptions;
import org.stele.client.rpc.ServerCalls;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.time.Clock;

/**
 * The mix of a soak: callers in a loop that share a client, and beside them {@link #TROUBLEMAKERS}
 * threads, each with one connection after the other. At its end all connections are closed. The
 * first wrong or missing answer ends it. Used by one thread.
 */
final class SoakLoad {
  static final int TROUBLEMAKERS = 4;

  /** Of each of them; more would use up the ports that closed connections keep for a while. */
  private static final long CONNECTION_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);
  private static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int MAX_SHORT_NANOS = 200_000;
  private static final int CALLS_PER_SHORT_ONE = 50;
  private static final int MAX_REPLY_BYTES = 8 << 10;
  private static final int CONNECTIONS = 2;

  /** Of each troublemaker. */
  private static final int MAX_SILENT = 50;

  private static final byte[][] JUNK = {
    "GET / HTTP/1.1\r\n\r\n".getBytes(ISO_8859_1),
    "SSH-2.0-x\r\n".getBytes(ISO_8859_1),
    {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3}, // TLS
    {0x7f, -1, -1, -1},
    {0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8},
  };

  private final String address;
  private final InetSocketAddress server;
  private final int callers;
  private final long seed;
  private final Clock clock = Clock.system();
  private final Map<SoakEvent, LongAdder> counts = new EnumMap<>(SoakEvent.class);

  /**
   * @param address host:port of the server
   */
  SoakLoad(String address, int callers, long seed) {
    this.address = address;
    this.server = BenchServer.socketAddress(address);
    this.callers = callers;
    this.seed = seed;
    for (SoakEvent event : SoakEvent.values()) {
      counts.put(event, new LongAdder());
    }
  }

  /** Makes the load for so long. */
  void run(Duration duration) {
    try (RpcClient rpc =
        new RpcClient(
            new RpcOptions(
                CONNECT_LIMIT, CONNECTIONS, MAX_REPLY_BYTES * 2, "", new SecureRandom().nextLong()),
            clock,
            () -> "")) {
      ServerCalls calls = new ServerCalls(rpc);
      new Level(
              callers + TROUBLEMAKERS,
              null,
              (thread, threads) ->
                  thread < callers ? new Caller(calls, thread) : new Troublemaker(thread))
          .run(Duration.ZERO, duration);
    }
  }

  /** How often it happened. */
  long count(SoakEvent event) {
    return counter(event).sum();
  }

  private void happened(SoakEvent event) {
    counter(event).increment();
  }

  private LongAdder counter(SoakEvent event) {
    return Objects.requireNonNull(counts.get(event));
  }

  /** Calls all the time; each answer has a size of its own, so that a mix-up is seen. */
  private final class Caller implements BenchOperation {
    private final ServerCalls calls;
    private final SplittableRandom random;
    private final Bytes payload = EmptyCall.payload();

    Caller(ServerCalls calls, int number) {
      this.calls = calls;
      this.random = new SplittableRandom(seed + number);
    }

    @Override
    public int run() throws Exception {
      if (random.nextInt(CALLS_PER_SHORT_ONE) == 0) {
        callInVain();
        return 0;
      }
      callInPeace();
      happened(SoakEvent.CALL);
      return 1;
    }

    /** What was not sent, since a connection was given up just then, is sent once more. */
    private void callInPeace() throws InterruptedException {
      long deadline = clock.nanos() + CALL_NANOS;
      while (true) {
        try {
          ping(deadline - clock.nanos());
          return;
        } catch (AttemptException e) {
          if (e.isOutcomeUnknown() || e.reply() != null || clock.nanos() - deadline > 0) {
            throw new CommandFailure("a healthy call got no answer: " + e.getMessage(), e);
          }
        }
      }
    }

    private void callInVain() throws InterruptedException {
      try {
        ping(1 + random.nextInt(MAX_SHORT_NANOS));
      } catch (AttemptException e) {
        if (e.reply() != null && e.code() != ErrorCode.DEADLINE_EXCEEDED) {
          throw new CommandFailure("a call with little time got: " + e.getMessage(), e);
        }
      }
      happened(SoakEvent.TIMEOUT);
    }

    private void ping(long nanos) throws InterruptedException {
      int bytes = random.nextInt(MAX_REPLY_BYTES);
      Bytes answer =
          calls.ping(address, payload, bytes, new CallLimits(clock.nanos() + nanos, 1, 0));
      if (answer.length() != bytes) {
        throw new CommandFailure("wrong answer: " + answer.length() + " bytes instead of " + bytes);
      }
    }
  }

  /** Makes one connection after the other, and does not treat them well. */
  private final class Troublemaker implements BenchOperation {
    private static final List<SoakEvent> KINDS =
        List.of(
            SoakEvent.CONNECT,
            SoakEvent.CUT,
            SoakEvent.RESET,
            SoakEvent.HALF_CLOSE,
            SoakEvent.SILENT,
            SoakEvent.JUNK);

    private final SplittableRandom random;
    private final Deque<PlainConnection> silent = new ArrayDeque<>();
    private final byte[] frame;

    Troublemaker(int number) {
      this.random = new SplittableRandom(seed + number);
      try {
        this.frame = PlainConnection.ping(100, 100);
      } catch (TException e) {
        throw new IllegalStateException("a call cannot be written to memory", e);
      }
    }

    @Override
    public int run() throws Exception {
      long begin = clock.nanos();
      SoakEvent kind = KINDS.get(random.nextInt(KINDS.size()));
      try {
        make(kind);
      } catch (IOException | TException e) {
        throw new CommandFailure("the event " + kind.text() + " went wrong: " + e.getMessage(), e);
      }
      happened(kind);
      long left = begin + CONNECTION_NANOS - clock.nanos();
      BenchServer.pause(Math.max(0, TimeUnit.NANOSECONDS.toMillis(left)));
      return 0;
    }

    private void make(SoakEvent kind) throws IOException, TException {
      PlainConnection connection = PlainConnection.open(server);
      if (kind == SoakEvent.SILENT) {
        keep(connection);
        return;
      }
      try (connection) {
        switch (kind) {
          case CONNECT -> call(connection, false);
          case HALF_CLOSE -> call(connection, true);
          case CUT -> connection.send(frame, 1 + random.nextInt(frame.length - 1));
          case RESET -> {
            connection.send(frame, 1 + random.nextInt(frame.length));
            connection.reset();
          }
          case JUNK -> {
            byte[] junk = JUNK[random.nextInt(JUNK.length)];
            connection.send(junk, junk.length);
            connection.awaitEnd();
          }
          default -> throw new IllegalArgumentException(kind + " has no connection of its own");
        }
      }
    }

    private void call(PlainConnection connection, boolean last) throws IOException, TException {
      int bytes = random.nextInt(MAX_REPLY_BYTES);
      connection.beginPing(bytes);
      if (last) {
        connection.endOutput();
      }
      connection.endPing(bytes);
      if (last) {
        connection.awaitEnd();
      }
    }

    /** The one that is there for longest goes. */
    private void keep(PlainConnection connection) throws IOException {
      silent.add(connection);
      if (random.nextBoolean()) {
        byte[] greeting = PlainConnection.greeting(random.nextLong());
        connection.send(greeting, greeting.length);
      }
      if (silent.size() > MAX_SILENT) {
        silent.remove().close();
      }
    }

    @Override
    public void close() {
      silent.forEach(PlainConnection::close);
    }
  }
}
