package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.ErrorCode.Retry;
import org.stele.test.check.AckLedger;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * A start that cannot succeed ends, says why, and leaves nothing that would be in the way of the
 * next one. Who calls a server while it starts or stops is refused, or told to try again.
 */
class FailedStartIT {
  private static final Duration LIMIT = TestForm.generous(Duration.ofSeconds(30));
  private static final long PROBE_NANOS = 10_000_000;

  @TempDir private static Path directory;

  private static StandaloneServer server;

  /** Waits for a ZooKeeper that is not there while the tests run. */
  private static Process lonely;

  private static int closedPort;

  @BeforeAll
  static void start() throws IOException {
    server = new StandaloneServer(Installation.shared(), directory.resolve("data"), Map.of());
    try (ServerSocket socket = listen()) {
      closedPort = socket.getLocalPort();
    }
    Path conf = directory.resolve("lonely.properties");
    Files.writeString(
        conf,
        "zookeeper.connect=127.0.0.1:%d/lonely\nroot.uri=file:%s\nrpc.port=0\n"
            .formatted(closedPort, directory.resolve("lonely")));
    lonely =
        new ProcessBuilder(
                Installation.shared().script().toString(),
                "server",
                "--conf",
                conf.toString(),
                "--logs",
                directory.resolve("lonely logs").toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("lonely output").toFile())
            .start();
  }

  @AfterAll
  static void stop() {
    server.close();
    lonely.destroyForcibly();
  }

  private static ServerSocket listen() throws IOException {
    return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  /** Fails to start, with this cause in its one line and at the end of its log. */
  private static void assertStartFails(StandaloneServer failing, String cause) throws IOException {
    CommandResult start = failing.start();
    assertEquals(1, start.exitCode(), start::toString);
    List<String> lines = start.err().lines().toList();
    assertEquals(1, lines.size(), start::toString);
    assertTrue(lines.get(0).startsWith("stele: the server did not start: "), start::toString);
    assertTrue(lines.get(0).contains(cause), start::toString);
    List<String> log = failing.log();
    assertTrue(log.get(log.size() - 1).contains(cause), () -> String.join("\n", log));
    assertEquals("", Files.readString(failing.directory().resolve("logs/stele.out")));
    assertFalse(Files.exists(failing.directory().resolve("stele.pid")));
    assertFalse(Files.exists(failing.directory().resolve("status.json")));
    assertEquals(List.of(), logs(failing), "a failed start leaves no logs");
  }

  private static List<Path> logs(StandaloneServer of) throws IOException {
    Path wal = of.directory().resolve("store/wal");
    if (!Files.isDirectory(wal)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(wal)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void whatIsInTheWayIsNamedAndThenNoMore() throws Exception {
    try (ServerSocket taken = listen()) {
      server.setting("rpc.port", "" + taken.getLocalPort());
      assertStartFails(server, "cannot listen on 127.0.0.1:" + taken.getLocalPort());
      server.setting("rpc.port", "0");
      if (TestForm.LONG) {
        server.setting("zookeeper.port", "" + taken.getLocalPort());
        assertStartFails(server, "127.0.0.1:" + taken.getLocalPort());
        server.setting("zookeeper.port", "0");
      }
    }
    Path wal = server.directory().resolve("store/wal");
    Files.createDirectories(wal.getParent());
    Files.deleteIfExists(wal);
    Files.writeString(wal, "where logs should go");
    assertStartFails(server, wal.toString());
    Files.delete(wal);
    probeWhileItStartsAndStops();
  }

  private static void probeWhileItStartsAndStops() throws Exception {
    int port;
    try (ServerSocket socket = listen()) {
      port = socket.getLocalPort();
    }
    server.setting("rpc.port", "" + port);
    server.start().orFail();
    AckLedger ledger = new AckLedger();
    ClientOptions impatient = ClientOptions.defaults().withDeadline(Duration.ofSeconds(2));
    try (SteleClient client = SteleClient.connect(server.zookeeper(), impatient)) {
      client.tables().create(LedgerWriters.TABLE);
      String tableId = client.tables().describe(LedgerWriters.TABLE).id();
      try (LedgerWriters writers = new LedgerWriters(client, ledger, new AtomicInteger(), 2, 100);
          Probe probe = new Probe(port, tableId)) {
        probe.await(Probe.Outcome.ANSWERED);
        Conditions.await("writes are acknowledged", LIMIT, () -> writers.acked() > 10);
        server.stop().orFail();
        writers.end();
        probe.await(Probe.Outcome.REFUSED);
        server.start().orFail();
        probe.await(Probe.Outcome.ANSWERED);
      }
    }
    try (SteleClient client = server.client()) {
      assertEquals(List.of(), LedgerWriters.check(client, ledger));
    }
  }

  @Test
  void aZooKeeperThatIsNotThereIsNamed() throws Exception {
    assertTrue(lonely.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS), "it does not end");
    String output = Files.readString(directory.resolve("lonely output"));
    assertEquals(1, lonely.exitValue(), output);
    assertEquals(1, output.lines().count(), output);
    assertTrue(output.contains("no connection to ZooKeeper at 127.0.0.1:" + closedPort), output);
  }

  /**
   * Scans a table every 10 ms, each time over a new connection. Who starts or stops may answer,
   * tell to try again, or not be there; anything else, and silence, is a fault.
   */
  private static final class Probe implements AutoCloseable {
    enum Outcome {
      ANSWERED,
      TRY_AGAIN,
      REFUSED
    }

    private final int port;
    private final byte[] scan;
    private final Thread thread = new Thread(this::run, "probe");
    private final Map<Outcome, AtomicLong> counts = new EnumMap<>(Outcome.class);
    private volatile @Nullable Throwable fault;
    private volatile boolean closed;

    Probe(int port, String tableId) {
      this.port = port;
      this.scan = CompactCall.scan(tableId);
      for (Outcome outcome : Outcome.values()) {
        counts.put(outcome, new AtomicLong());
      }
      thread.start();
    }

    private void run() {
      try {
        while (!closed) {
          counts.get(probe()).incrementAndGet();
          LockSupport.parkNanos(PROBE_NANOS);
        }
      } catch (IOException | RuntimeException | Error e) {
        fault = e;
      }
    }

    private Outcome probe() throws IOException {
      try (RawSocket socket = RawSocket.connect(port)) {
        CompactReply reply = CompactReply.of(socket.call(scan, LIMIT));
        if (reply.kind() == CompactReply.Kind.RESULT) {
          return Outcome.ANSWERED;
        }
        for (ErrorCode code : ErrorCode.values()) {
          if (code.number() == reply.errorCode() && code.retry() == Retry.WITH_BACKOFF) {
            return Outcome.TRY_AGAIN;
          }
        }
        throw new AssertionError("a server that starts or stops answers " + reply);
      } catch (EOFException | SocketException e) { // nobody listens, or not any more
        return Outcome.REFUSED;
      }
    }

    /** Waits for another outcome of this kind. */
    void await(Outcome outcome) {
      long before = counts.get(outcome).get();
      Conditions.await(
          "the probe sees " + outcome,
          LIMIT,
          () -> fault != null || counts.get(outcome).get() > before);
      assertNull(fault);
    }

    @Override
    public void close() {
      closed = true;
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
      assertNull(fault);
    }
  }
}
