package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;
import org.stele.test.process.StandaloneServer;

/**
 * Connections that trickle, say nothing, or do not take their replies are closed at the deadlines
 * that the settings name; a reader that is only slow is not.
 */
class SlowConnectionsIT extends ForServerKinds {
  private static final int PER_KIND = TestForm.count(50, 700);

  /** Longer than a slow reader takes for a batch, which the operating system holds at once. */
  private static final Duration IDLE = TestForm.time(Duration.ofSeconds(6), Duration.ofSeconds(30));

  private static final Duration PARTIAL =
      TestForm.time(Duration.ofSeconds(2), Duration.ofSeconds(10));
  private static final Duration WRITE =
      TestForm.time(Duration.ofSeconds(2), Duration.ofSeconds(10));
  private static final int LARGE_REPLY = 10 << 20;
  private static final int RECEIVE_BUFFER = 16 << 10;

  /** A buffer in a tenth of the time for writing takes longer than that time for so much. */
  private static final int SLOWLY_READ = 20 * RECEIVE_BUFFER;

  private static final Duration PATIENCE = TestForm.generous(Duration.ofSeconds(5));

  @TempDir private Path directory;

  @Test
  void eachIsClosedAtItsDeadline() throws Exception {
    Map<String, String> settings =
        Map.of(
            "rpc.idle.timeout", IDLE.toSeconds() + "s",
            "rpc.partial.timeout", PARTIAL.toSeconds() + "s",
            "rpc.write.timeout", WRITE.toSeconds() + "s",
            "rpc.reply.bytes", "256M");
    ExecutorService threads =
        Executors.newCachedThreadPool(task -> new Thread(task, "slow-connections"));
    try (StandaloneServer server = StandaloneServer.started(directory, settings);
        SteleClient client = server.client();
        HealthyClient healthy = HealthyClient.start(server)) {
      int port = server.port();
      VainScans.of(client, port);
      byte[] scan = CompactCall.scan(client.tables().describe("large").id());
      healthy.awaitOperations(100);

      List<Future<?>> results = new ArrayList<>();
      results.add(threads.submit(() -> assertTricklersAreClosed(port)));
      results.add(threads.submit(() -> assertSilentOnesAreClosed(port)));
      results.add(threads.submit(() -> assertNonReadersAreClosed(port)));
      results.add(threads.submit(() -> assertSlowReaderIsServed(port, scan)));
      for (Future<?> result : results) {
        result.get();
      }
      healthy.assertUndisturbed();
      Map<String, Long> counters = healthy.counters();
      assertEquals(0L, HealthyClient.counter(counters, "rpc.loop.failures"));
      long late = HealthyClient.counter(counters, "rpc.connections.timed.out");
      long overLimit = HealthyClient.counter(counters, "rpc.connections.stuck");
      assertTrue(late + overLimit >= 3L * perKind(), counters::toString);
      Conditions.await(
          "only the healthy clients are left",
          TestForm.generous(Duration.ofSeconds(5)),
          () -> HealthyClient.counter(healthy.counters(), "rpc.connections") < 20);
    } finally {
      threads.shutdownNow();
    }
  }

  private int perKind() {
    return kind.fewer(PER_KIND);
  }

  private Void assertTricklersAreClosed(int port) throws IOException {
    byte[] frame = RawSocket.frame(CompactCall.ping(new byte[10_000], 1));
    List<RawSocket> sockets = connect(port);
    List<RawSocket> open = new ArrayList<>(sockets);
    long end = System.nanoTime() + TestForm.generous(PARTIAL).toNanos();
    for (int sent = 0; !open.isEmpty(); sent++) {
      byte next = frame[sent];
      open.removeIf(socket -> !isTaken(socket, next));
      assertTrue(System.nanoTime() < end, () -> open.size() + " tricklers are still connected");
      LockSupport.parkNanos(PARTIAL.toNanos() / 5);
    }
    close(sockets);
    return null;
  }

  private static boolean isTaken(RawSocket socket, byte next) {
    try {
      socket.send(new byte[] {next});
      return !socket.isEndedWithin(Duration.ofMillis(1));
    } catch (IOException e) {
      return false;
    }
  }

  private Void assertSilentOnesAreClosed(int port) throws IOException {
    List<RawSocket> sockets = connect(port);
    for (RawSocket socket : sockets) {
      assertTrue(socket.isEndedWithin(TestForm.generous(IDLE)), "an idle connection stays open");
    }
    close(sockets);
    return null;
  }

  private Void assertNonReadersAreClosed(int port) throws IOException {
    List<RawSocket> sockets = new ArrayList<>();
    for (int i = 0; i < perKind(); i++) {
      RawSocket socket = RawSocket.connect(port, RECEIVE_BUFFER);
      sockets.add(socket.sendFrame(CompactCall.ping(new byte[10], LARGE_REPLY)));
    }
    Conditions.await(
        "the server has given up those who do not read",
        TestForm.generous(WRITE.plusSeconds(2)),
        () -> established(port, sockets) == 0);
    for (RawSocket socket : sockets) {
      int taken = socket.readToEnd(PATIENCE).length;
      assertTrue(taken < LARGE_REPLY, () -> "all of the reply came: " + taken);
    }
    close(sockets);
    return null;
  }

  /** How many of these the server still has, by the kernel's table: nothing is read for it. */
  private static long established(int port, List<RawSocket> sockets) throws IOException {
    long count = 0;
    List<String> peers = sockets.stream().map(RawSocket::localAddress).toList();
    for (String line : java.nio.file.Files.readAllLines(Path.of("/proc/net/tcp6"))) {
      count += isEstablished(line, port, peers) ? 1 : 0;
    }
    for (String line : java.nio.file.Files.readAllLines(Path.of("/proc/net/tcp"))) {
      count += isEstablished(line, port, peers) ? 1 : 0;
    }
    return count;
  }

  private static boolean isEstablished(String line, int port, List<String> peers) {
    String[] fields = line.trim().split("\\s+");
    if (fields.length < 4 || !fields[3].equals("01") || !fields[1].endsWith(hex(port))) {
      return false;
    }
    int peer = Integer.parseInt(fields[2].substring(fields[2].lastIndexOf(':') + 1), 16);
    return peers.contains("127.0.0.1:" + peer);
  }

  private static String hex(int port) {
    return ":" + String.format("%04X", port);
  }

  /** Takes its time within the deadlines, again and again, and longer than each of them in all. */
  private static Void assertSlowReaderIsServed(int port, byte[] scan) throws IOException {
    try (RawSocket socket = RawSocket.connect(port, RECEIVE_BUFFER)) {
      for (int batch = 0; batch < 2; batch++) {
        int left = scanUntilLarge(socket, scan);
        long end = System.nanoTime() + WRITE.toNanos() * 3 / 2;
        while (System.nanoTime() < end && left > RECEIVE_BUFFER) {
          left -= socket.readExactly(RECEIVE_BUFFER, PATIENCE).length;
          LockSupport.parkNanos(WRITE.toNanos() / 10);
        }
        assertTrue(System.nanoTime() >= end, "the reply is too short for a slow reader");
        socket.readExactly(left, PATIENCE);
        LockSupport.parkNanos(IDLE.toNanos() / 4);
      }
      byte[] answer = socket.call(CompactCall.ping(new byte[8], 8), PATIENCE);
      assertEquals(CompactReply.Kind.RESULT, CompactReply.of(answer).kind());
    }
    return null;
  }

  /**
   * Scans again while the server refuses, since others take the memory for replies, or has no time
   * for a large batch.
   *
   * @return bytes of the reply that are not read yet
   */
  private static int scanUntilLarge(RawSocket socket, byte[] scan) throws IOException {
    long end = System.nanoTime() + TestForm.generous(WRITE.multipliedBy(2)).toNanos();
    while (true) {
      socket.sendFrame(scan);
      byte[] length = socket.readExactly(Integer.BYTES, PATIENCE);
      int left = ByteBuffer.wrap(length).getInt();
      if (left >= SLOWLY_READ) {
        return left;
      }
      CompactReply reply = CompactReply.of(socket.readExactly(left, PATIENCE));
      assertTrue(
          reply.kind() == CompactReply.Kind.RESULT || reply.errorCode() == CompactReply.BUSY,
          reply::toString);
      assertTrue(System.nanoTime() < end, () -> "no large batch, but " + left + " bytes");
    }
  }

  private List<RawSocket> connect(int port) throws IOException {
    List<RawSocket> sockets = new ArrayList<>();
    for (int i = 0; i < perKind(); i++) {
      sockets.add(RawSocket.connect(port));
    }
    return sockets;
  }

  private static void close(List<RawSocket> sockets) throws IOException {
    for (RawSocket socket : sockets) {
      socket.close();
    }
  }
}
