package org.stele.test.cases;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * Bytes that are no call: other protocols, absurd frame lengths, and honest frames whose insides
 * lie. Each costs its connection and nothing else, while a healthy client goes on.
 */
class JunkOnTheWireIT extends ForServerKinds {
  private static final int PER_KIND = TestForm.count(60, 200);
  private static final int LIES_PER_KIND = TestForm.count(100, 1000);
  private static final int PROBES = 1000;
  private static final int FRAME_MAX = 1 << 20;
  private static final int NESTING = 10_000;
  private static final long MAX_GROWTH_KIB = 50 << 10;
  private static final Duration LIMIT = TestForm.generous(Duration.ofSeconds(5));

  @TempDir private static Path directory;

  private static StandaloneServer server;
  private static int port;
  private static long pid;
  private static HealthyClient healthy;
  private static long residentBefore;

  @BeforeParameterizedClassInvocation
  static void start(ServerKind kind) {
    server =
        new StandaloneServer(
            Installation.shared(),
            directory.resolve(kind.name()),
            Map.of(
                "rpc.frame.max", "1M",
                "rpc.partial.timeout", "1s",
                "memtable.bytes", "32M",
                "cache.data.bytes", "32M"));
    // The heap is there from the start, so that what the process grows by is not the heap.
    server.environment("STELE_SERVER_HEAP", "-Xms256m -Xmx256m -XX:+AlwaysPreTouch");
    server.start().orFail();
    port = server.port();
    pid = server.pid();
    healthy = HealthyClient.start(server);
    healthy.awaitOperations(200);
    residentBefore = ProcessGauges.of(pid).residentKib();
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    if (healthy != null) {
      healthy.close();
    }
    server.close();
  }

  @Test
  void otherProtocolsCostTheirConnectionsOnly() throws IOException {
    int logBefore = server.log().size();
    byte[] random = new byte[64];
    new Random(7).nextBytes(random);
    Map<String, byte[]> kinds = new LinkedHashMap<>();
    kinds.put("HTTP", "GET / HTTP/1.1\r\n\r\n".getBytes(ISO_8859_1));
    kinds.put("SSH", "SSH-2.0-x\r\n".getBytes(ISO_8859_1));
    kinds.put("TLS", clientHello());
    kinds.put("text", "Hello\n".getBytes(ISO_8859_1));
    kinds.put("random bytes", random);
    List<RawSocket> open = new ArrayList<>();
    int connections = 0;
    try {
      for (Map.Entry<String, byte[]> probe : kinds.entrySet()) {
        for (int i = 0; i < kind.fewer(PER_KIND); i++) {
          connections++;
          RawSocket socket = RawSocket.connect(port);
          open.add(socket);
          socket.send(probe.getValue());
          if (i % 2 == 0) {
            assertTrue(socket.isEndedWithin(LIMIT), probe.getKey() + " keeps its connection");
          }
        }
      }
      for (RawSocket socket : open) {
        assertTrue(socket.isEndedWithin(LIMIT), "a connection with junk stays open");
      }
    } finally {
      for (RawSocket socket : open) {
        socket.close();
      }
    }
    for (int i = 0; i < kind.fewer(PROBES); i++) {
      RawSocket.connect(port).close();
    }
    assertUnharmed();
    List<String> log = server.log();
    List<String> since = log.subList(logBefore, log.size());
    // At most one a second: this second's may be of the test before.
    assertTrue(
        log.stream().anyMatch(line -> line.contains("Closed the connection from /127.0.0.1:")),
        () -> "the log names no peer: " + since);
    assertFalse(
        since.stream().anyMatch(line -> line.startsWith("\tat ")), () -> "stack traces: " + since);
    assertTrue(since.size() <= connections, () -> since.size() + " lines: " + since);
  }

  @Test
  void onlyPossibleFrameLengthsAreTaken() throws IOException {
    int overhead = CompactCall.ping(new byte[FRAME_MAX / 2], 0).length - FRAME_MAX / 2;
    byte[] largest = CompactCall.ping(new byte[FRAME_MAX - overhead], 1);
    assertEquals(FRAME_MAX, largest.length);
    for (int i = 0; i < TestForm.count(3, 30); i++) {
      try (RawSocket socket = RawSocket.connect(port)) {
        assertEquals(CompactReply.Kind.RESULT, CompactReply.of(socket.call(largest, LIMIT)).kind());
      }
    }
    int[] impossible = {0, -1, Integer.MIN_VALUE, 256 << 20, Integer.MAX_VALUE};
    byte[] body = CompactCall.ping(new byte[100], 1);
    for (int length : impossible) {
      for (int i = 0; i < kind.fewer(LIES_PER_KIND); i++) {
        try (RawSocket socket = RawSocket.connect(port)) {
          socket.sendLength(length);
          if (i % 2 == 0) {
            sendUnlessClosed(socket, body);
          }
          assertEquals(0, socket.readToEnd(LIMIT).length, "an answer to length " + length);
        }
      }
    }
    // What is possible but too large for this server is answered by its begin.
    for (int length : new int[] {FRAME_MAX + 1, 255 << 20}) {
      for (int i = 0; i < kind.fewer(LIES_PER_KIND); i++) {
        try (RawSocket socket = RawSocket.connect(port)) {
          socket.sendLength(length);
          socket.send(body);
          CompactReply reply = CompactReply.of(socket.readFrame(LIMIT));
          assertTrue(reply.kind() == CompactReply.Kind.ERROR, () -> "the answer is " + reply);
          assertTrue(socket.isEndedWithin(LIMIT), "the connection stays open");
        }
      }
    }
    // Behind calls that are answered, too.
    try (RawSocket socket = RawSocket.connect(port)) {
      socket.call(body, LIMIT);
      socket.sendLength(-5);
      assertTrue(socket.isEndedWithin(LIMIT));
    }
    assertUnharmed();
  }

  @Test
  void lyingLengthsInsideAreRefused() throws IOException {
    for (Map.Entry<String, byte[]> lie : lies().entrySet()) {
      for (int i = 0; i < kind.fewer(LIES_PER_KIND); i++) {
        try (RawSocket socket = RawSocket.connect(port)) {
          assertRefused(socket.sendFrame(lie.getValue()), lie.getKey());
        }
      }
      assertHonestCallWorks(lie.getKey());
    }
    assertUnharmed();
  }

  /** A protocol error or the end of the connection. */
  private static void assertRefused(RawSocket socket, String lie) throws IOException {
    try {
      byte[] answer = socket.readFrame(LIMIT);
      boolean header = (answer[0] & 0xff) == 0xc5;
      boolean refused = header && (answer[5] & 0x02) != 0;
      assertTrue(
          header ? refused : CompactReply.of(answer).kind() != CompactReply.Kind.RESULT,
          "an answer to " + lie);
    } catch (EOFException | SocketException e) {
      // Closed, which is an answer.
      assertTrue(socket.isEndedWithin(LIMIT), lie);
    }
  }

  private static void assertHonestCallWorks(String after) throws IOException {
    try (RawSocket socket = RawSocket.connect(port)) {
      byte[] answer = socket.call(CompactCall.ping(new byte[8], 8), LIMIT);
      assertEquals(CompactReply.Kind.RESULT, CompactReply.of(answer).kind(), "after " + after);
    }
  }

  private static Map<String, byte[]> lies() {
    Map<String, byte[]> lies = new LinkedHashMap<>();
    for (int claimed : new int[] {Integer.MAX_VALUE, 0x4000_0000, -1}) {
      String what = " of " + claimed;
      lies.put("a method name" + what, CompactCall.of(claimed, "ping").end());
      lies.put(
          "a binary field" + what,
          CompactCall.of("ping").field(1, CompactCall.BINARY).varint(claimed).text("abc").end());
      lies.put(
          "a list" + what,
          CompactCall.of("openTablets")
              .field(1, CompactCall.LIST)
              .raw(0xf0 | CompactCall.BINARY)
              .varint(claimed)
              .end());
      lies.put(
          "a list of structures" + what,
          CompactCall.of("write")
              .field(1, CompactCall.STRUCT)
              .binary(1, new byte[] {'1'})
              .field(2, CompactCall.LIST)
              .raw(0xf0 | CompactCall.STRUCT)
              .varint(claimed)
              .stop()
              .end());
      lies.put(
          "a map" + what,
          CompactCall.of("createTable")
              .binary(1, new byte[] {'t'})
              .field(2, CompactCall.MAP)
              .varint(claimed)
              .raw(CompactCall.BINARY << 4 | CompactCall.BINARY)
              .end());
      lies.put(
          "an unknown list" + what,
          CompactCall.of("ping")
              .field(9, CompactCall.LIST)
              .raw(0xf0 | CompactCall.STRUCT)
              .varint(claimed)
              .end());
      lies.put(
          "packed mutations" + what,
          CompactCall.of("write")
              .field(1, CompactCall.STRUCT)
              .binary(1, new byte[] {'1'})
              .binary(1, CompactCall.of(claimed, "").toBytes())
              .stop()
              .end());
    }
    CompactCall nested = CompactCall.of("ping");
    CompactCall nestedLists = CompactCall.of("ping").field(9, CompactCall.LIST);
    for (int i = 0; i < NESTING; i++) {
      nested.field(9, CompactCall.STRUCT);
      nestedLists.raw(0x10 | CompactCall.LIST);
    }
    lies.put("structures nested deeply", nested.end());
    lies.put("lists nested deeply", nestedLists.end());
    lies.put("an unknown method", CompactCall.of("pong").end());
    lies.put("a field of unknown type", CompactCall.of("ping").field(1, 15).end());
    byte[] ping = CompactCall.ping(new byte[10], 1);
    lies.put("a structure cut short", java.util.Arrays.copyOf(ping, ping.length - 6));
    lies.put("a message of one byte", new byte[] {(byte) 0x82});
    lies.put("a header of one byte", new byte[] {(byte) 0xc5});
    byte[] header = new byte[40];
    header[0] = (byte) 0xc5;
    header[1] = 1;
    header[2] = (byte) 0xff; // 65,280 bytes of header, it says
    lies.put("a header longer than its frame", header);
    return lies;
  }

  /** The begin of a TLS 1.2 handshake. */
  private static byte[] clientHello() {
    byte[] hello = new byte[200];
    byte[] begin = {0x16, 0x03, 0x01, 0x00, (byte) 195, 0x01, 0x00, 0x00, (byte) 191, 0x03, 0x03};
    System.arraycopy(begin, 0, hello, 0, begin.length);
    return hello;
  }

  private static void sendUnlessClosed(RawSocket socket, byte[] bytes) throws IOException {
    try {
      socket.send(bytes);
    } catch (SocketException e) {
      // The server has closed the connection already, as it should.
      assertTrue(socket.isEndedWithin(LIMIT));
    }
  }

  private static void assertUnharmed() {
    healthy.assertUndisturbed();
    long growth = ProcessGauges.of(pid).residentKib() - residentBefore;
    assertTrue(growth < MAX_GROWTH_KIB, () -> "the server grew by " + growth + " KiB");
    assertFalse(
        server.log().stream().anyMatch(line -> line.contains("OutOfMemory")), "out of memory");
    Map<String, Long> counters = healthy.counters();
    assertEquals(0L, HealthyClient.counter(counters, "rpc.loop.failures"), "loop failures");
  }
}
