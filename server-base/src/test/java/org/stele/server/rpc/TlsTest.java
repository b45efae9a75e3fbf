package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.net.TestCertificates;
import org.stele.core.net.TestTls;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;
import org.stele.core.time.ManualClock;
import org.stele.core.wire.MessageHeader;

/** What is special about encrypted endpoints, with clients that use the JDK's TLS alone. */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"SSL", "THREADPOOL_WITH_TLS"})
class TlsTest {
  private static final String TLS_ONLY = "speaks TLS only";

  @Parameter ServerKind kind;
  @TempDir Path temp;

  private EndpointFixture start(Clock clock, String... more) throws IOException {
    EndpointFixture.kind = kind;
    return new EndpointFixture(clock, more);
  }

  private EndpointFixture start(String... more) throws IOException {
    return start(Clock.system(), more);
  }

  @AfterEach
  void useDefaultKind() {
    EndpointFixture.kind = ServerKind.THREADED_SELECTOR;
  }

  private static Socket network(EndpointFixture endpoint) throws IOException {
    Socket socket = new Socket();
    socket.setSoTimeout(20_000);
    socket.setTcpNoDelay(true);
    socket.connect(endpoint.server.address());
    return socket;
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void bothVersionsCarryFramesOfAllSizes(String version) throws Exception {
    try (EndpointFixture endpoint = start();
        RawClient client = endpoint.connect()) {
      ((SSLSocket) client.socket).setEnabledProtocols(new String[] {version});
      client.hello(1, 1, 0, "").flush();
      client.readReply();
      for (int size : new int[] {0, 1, 16_383, 16_384, 16_385, 131_072, 5_000_000, 20 << 20}) {
        byte[] payload = new byte[size];
        for (int i = 0; i < size; i++) {
          payload[i] = (byte) (i * 31 + size);
        }
        client.call(size, "ping", EndpointFixture.ping(payload, size)).flush();
        assertEquals(size, client.readReply());
        byte[] answer =
            client.body(new org.stele.core.thrift.ServerService.ping_result()).getSuccess();
        assertArrayEquals(payload, answer);
      }
      assertEquals(1, endpoint.count("rpc.tls.handshakes"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1", "TLSv1.1"})
  void oldVersionsAreRefused(String version) throws Exception {
    try (EndpointFixture endpoint = start()) {
      try (Socket network = network(endpoint)) {
        OutputStream out = network.getOutputStream();
        out.write(clientHello(version));
        DataInputStream in = new DataInputStream(network.getInputStream());
        assertEquals(21, in.read(), "an alert");
        in.readAllBytes();
      }
      endpoint.await("rpc.tls.handshake.failures", 1);
      endpoint.await("rpc.connections", 0);
    }
  }

  /** A hello of today's client, which claims to know nothing newer than that version. */
  private static byte[] clientHello(String version) {
    byte minor = (byte) (version.equals("TLSv1") ? 1 : 2);
    ByteBuffer hello = ByteBuffer.allocate(5 + 4 + 2 + 32 + 1 + 4 + 2);
    hello.put((byte) 22).put((byte) 3).put((byte) 1).putShort((short) (4 + 2 + 32 + 1 + 4 + 2));
    hello.put((byte) 1).put((byte) 0).putShort((short) (2 + 32 + 1 + 4 + 2));
    hello.put((byte) 3).put(minor).put(new byte[32]).put((byte) 0);
    hello.putShort((short) 2).putShort((short) 0x002f).put((byte) 1).put((byte) 0);
    return hello.array();
  }

  @Test
  void aCallInTheSegmentOfTheLastHandshakeMessageIsAnswered() throws Exception {
    try (EndpointFixture endpoint = start();
        Socket network = network(endpoint)) {
      SSLEngine engine = TestTls.shared().context(null).createSSLEngine("localhost", 1);
      engine.setUseClientMode(true);
      engine.beginHandshake();
      RawClient frames = unconnectedFrames();
      ByteBuffer out = ByteBuffer.allocate(1 << 17);
      ByteBuffer in = ByteBuffer.allocate(1 << 17);
      ByteBuffer plain = ByteBuffer.allocate(1 << 17);
      boolean sent = false;
      while (plain.position() < 4 || plain.getInt(0) + 4 > plain.position()) {
        switch (engine.getHandshakeStatus()) {
          case NEED_TASK -> engine.getDelegatedTask().run();
          case NEED_WRAP -> {
            engine.wrap(ByteBuffer.allocate(0), out);
            if (engine.getHandshakeStatus()
                == javax.net.ssl.SSLEngineResult.HandshakeStatus.NEED_UNWRAP) {
              network.getOutputStream().write(out.array(), 0, out.position());
              out.clear();
            }
          }
          case NOT_HANDSHAKING, FINISHED -> {
            if (!sent) { // Finished is still in the buffer
              assertTrue(out.position() > 0);
              engine.wrap(ByteBuffer.wrap(frames.hello(1, 1, 0, "").out.toByteArray()), out);
              network.getOutputStream().write(out.array(), 0, out.position());
              out.clear();
              sent = true;
            }
            unwrap(network, engine, in, plain);
          }
          default -> unwrap(network, engine, in, plain);
        }
      }
      assertEquals(0xc5, plain.get(4) & 0xff, "the answer to the HELLO");
    }
  }

  private RawClient unconnectedFrames() throws IOException {
    EndpointFixture.kind = ServerKind.THREADED_SELECTOR;
    try (EndpointFixture plain = new EndpointFixture(Clock.system());
        RawClient client = plain.connect()) {
      return client;
    } finally {
      EndpointFixture.kind = kind;
    }
  }

  private static void unwrap(Socket network, SSLEngine engine, ByteBuffer in, ByteBuffer plain)
      throws IOException {
    in.flip();
    var result = engine.unwrap(in, plain);
    in.compact();
    if (result.getStatus() == javax.net.ssl.SSLEngineResult.Status.BUFFER_UNDERFLOW) {
      int count = network.getInputStream().read(in.array(), in.position(), in.remaining());
      assertTrue(count > 0);
      in.position(in.position() + count);
    }
  }

  @Test
  void silentAndSlowHandshakesHoldNobodyUpAndEndInTime() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = start(clock, "rpc.tls.handshake.timeout", "1s")) {
      List<Socket> silent = new ArrayList<>();
      byte[] hello = clientHello("TLSv1.1");
      for (int i = 0; i < 100; i++) {
        Socket socket = network(endpoint);
        socket.getOutputStream().write(hello, 0, i % hello.length);
        silent.add(socket);
      }
      endpoint.await("rpc.connections", 100);
      endpoint.assertServes();
      assertEquals(0, endpoint.count("rpc.connections.timed.out"));
      clock.advance(Duration.ofSeconds(2));
      endpoint.await("rpc.connections", 0);
      assertEquals(100, endpoint.count("rpc.connections.timed.out"));
      for (Socket socket : silent) {
        socket.getInputStream().readAllBytes();
        socket.close();
      }
    }
  }

  @Test
  void aPlainClientIsToldInItsOwnLanguage() throws Exception {
    try (EndpointFixture endpoint = start()) {
      EndpointFixture.kind = ServerKind.THREADED_SELECTOR; // the client's sockets are plain now
      try (RawClient client = endpoint.connect()) {
        client.hello(1, 1, 0, "").flush();
        client.readReply();
        assertTrue(client.reply.isRefused());
        assertTrue(client.reply.refusal().getMessage().contains(TLS_ONLY));
        assertEquals(0, client.readToEnd());
      }
      for (int protocol : new int[] {MessageHeader.COMPACT, MessageHeader.BINARY}) {
        try (RawClient client = endpoint.connect()) {
          client
              .plainCall(protocol, MessageHeader.CALL, "S:ping", protocol, EndpointFixture.ping(1))
              .flush();
          client.readPlain();
          assertTrue(client.exception().getMessage().contains(TLS_ONLY));
          assertEquals("ping", client.message.name());
          assertEquals(protocol, client.message.sequenceId());
          assertEquals(0, client.readToEnd());
        }
      }
      for (String junk : List.of("GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "Hello\n")) {
        try (RawClient client = endpoint.connect()) {
          client.raw(junk.getBytes(StandardCharsets.US_ASCII)).flush();
          assertEquals(0, client.readToEnd());
        }
      }
      assertEquals(0, endpoint.service.pings.size());
      endpoint.await("rpc.connections", 0);
      EndpointFixture.kind = kind;
      endpoint.assertServes();
    }
  }

  @Test
  void anEncryptedClientOfAPlainServerHearsThatItIsNotTls() throws Exception {
    EndpointFixture.kind =
        kind == ServerKind.SSL ? ServerKind.THREADED_SELECTOR : ServerKind.THREADPOOL;
    try (EndpointFixture endpoint = new EndpointFixture(Clock.system());
        SSLSocket client = TestTls.shared().over(network(endpoint), null)) {
      SSLException e = assertThrows(SSLException.class, client::startHandshake);
      assertTrue(e.getMessage().contains("Unsupported or unrecognized SSL message"), e.toString());
      endpoint.await("rpc.connections", 0);
      assertEquals(1, endpoint.count("rpc.connections.junk"));
      endpoint.assertServes();
    }
  }

  @Test
  void aSecondHandshakeIsRefused() throws Exception {
    try (EndpointFixture endpoint = start();
        RawClient client = endpoint.connect()) {
      SSLSocket socket = (SSLSocket) client.socket;
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      client.hello(1, 1, 0, "").flush();
      client.readReply();
      socket.startHandshake();
      assertThrows(
          IOException.class,
          () -> {
            client.call(1, "ping", EndpointFixture.ping(1)).flush();
            client.readReply();
          });
      endpoint.await("rpc.connections.junk", 1);
      endpoint.await("rpc.connections", 0);
      endpoint.assertServes();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "none, absent, true",
    "optional, absent, true",
    "optional, good, true",
    "optional, foreign, false",
    "required, good, true",
    "required, absent, false",
    "required, foreign, false",
    "required, expired, false",
  })
  void clientCertificatesAreAskedForAsTheSettingSays(
      String setting, String certificate, boolean served) throws Exception {
    try (EndpointFixture endpoint = start("rpc.tls.client.certificates", setting)) {
      for (String version : List.of("TLSv1.3", "TLSv1.2")) {
        long failures = endpoint.count("rpc.tls.handshake.failures");
        RawClient frames = unconnectedFrames();
        try (SSLSocket socket = TestTls.shared().over(network(endpoint), identity(certificate))) {
          socket.setEnabledProtocols(new String[] {version});
          byte[] call =
              frames
                  .plainCall(
                      MessageHeader.COMPACT, MessageHeader.CALL, "ping", 1, EndpointFixture.ping(1))
                  .out
                  .toByteArray();
          if (served) {
            socket.getOutputStream().write(call);
            assertTrue(new DataInputStream(socket.getInputStream()).readInt() > 0);
          } else {
            SSLException e =
                assertThrows(
                    SSLException.class,
                    () -> {
                      socket.getOutputStream().write(call);
                      socket.getInputStream().read();
                    });
            assertTrue(e.getMessage().contains("alert"), "the server says why: " + e);
            endpoint.await("rpc.tls.handshake.failures", failures + 1);
          }
        }
      }
    }
  }

  private static TestCertificates.@Nullable Identity identity(String which) {
    return switch (which) {
      case "good" -> TestTls.shared().authority().issue("ada", "client");
      case "expired" -> TestTls.shared().authority().issueExpired("ada", "client");
      case "foreign" -> new TestCertificates("test authority").issue("ada", "client");
      default -> null;
    };
  }

  @Test
  void handlersSeeTheNameInTheCertificate() throws Exception {
    try (EndpointFixture endpoint = start("rpc.tls.client.certificates", "required")) {
      RawClient frames = unconnectedFrames();
      try (SSLSocket socket = TestTls.shared().over(network(endpoint), identity("good"))) {
        socket
            .getOutputStream()
            .write(
                frames
                    .plainCall(
                        MessageHeader.COMPACT,
                        MessageHeader.CALL,
                        "write",
                        1,
                        EndpointFixture.write())
                    .out
                    .toByteArray());
        Call call = endpoint.service.writes.take();
        assertEquals("CN=ada", call.caller().certificate());
        call.reply(TestService.writeResult());
      }
    }
  }

  @Test
  void encryptedBytesAreBoundedLikeFrames() throws Exception {
    ManualClock clock = new ManualClock();
    try (EndpointFixture endpoint = start(clock, "rpc.partial.timeout", "1s");
        RawClient client = endpoint.greeted()) {
      // the begin of a record that never becomes whole
      client.network.getOutputStream().write(new byte[] {23, 3, 3, 0x40, 0, 1, 2, 3});
      long read = endpoint.count("rpc.bytes.read");
      endpoint.assertServes();
      clock.advance(Duration.ofSeconds(2));
      endpoint.await("rpc.connections.timed.out", 1);
      assertEquals(0, client.readToEnd());
      assertTrue(endpoint.count("rpc.bytes.read") > read, "of the other client");
    }
  }

  @Test
  void filesThatCannotBeUsedAreNamed() throws Exception {
    Path open =
        TestCertificates.write(
            temp.resolve("open.key"), Files.readAllBytes(TestTls.shared().file("server.key")));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
    Path empty = TestCertificates.write(temp.resolve("empty.pem"), new byte[0]);
    Path other =
        TestTls.shared()
            .authority()
            .issue("other", "localhost")
            .writeKey(temp.resolve("other.key"));
    Path secret =
        TestCertificates.write(
            temp.resolve("password"), "wrong\n".getBytes(StandardCharsets.UTF_8));
    Path store =
        TestTls.shared()
            .authority()
            .issue("p12", "localhost")
            .writePkcs12(temp.resolve("server.p12"), "right", true);
    assertRefused("open.key can be read by all users", "rpc.tls.key", open.toString());
    assertRefused("nowhere.pem is not there", "rpc.tls.certificate", "/nowhere.pem");
    assertRefused("empty.pem has no certificate", "rpc.tls.certificate", empty.toString());
    assertRefused("the key is not that of the certificate", "rpc.tls.key", other.toString());
    assertRefused("empty.pem has no certificate", "rpc.tls.trust", empty.toString());
    assertRefused(
        "server.p12",
        "rpc.tls.certificate",
        store.toString(),
        "rpc.tls.key",
        "",
        "rpc.tls.password.file",
        secret.toString());
    assertRefused("rpc.tls.certificate", "rpc.tls.certificate", "");
    assertRefused("rpc.tls.trust", "rpc.tls.trust", "", "rpc.tls.client.certificates", "required");
  }

  private void assertRefused(String reason, String... settings) {
    IOException e = assertThrows(IOException.class, () -> start(settings).close());
    assertTrue(e.getMessage().contains(reason), e.getMessage());
  }

  @Test
  void certificatesMayBeInPkcs12Files() throws Exception {
    Path store =
        TestTls.shared()
            .authority()
            .issue("p12", "localhost")
            .writePkcs12(temp.resolve("server.p12"), "right", true);
    Path trust =
        TestTls.shared()
            .authority()
            .authority()
            .writePkcs12(temp.resolve("trust.p12"), "right", false);
    Path password =
        TestCertificates.write(
            temp.resolve("password"), "right\n".getBytes(StandardCharsets.UTF_8));
    try (EndpointFixture endpoint =
        start(
            "rpc.tls.certificate",
            store.toString(),
            "rpc.tls.key",
            "",
            "rpc.tls.trust",
            trust.toString(),
            "rpc.tls.password.file",
            password.toString(),
            "rpc.tls.client.certificates",
            "optional")) {
      endpoint.assertServes();
    }
  }

  @Test
  void saslIsRefusedWithWhatThereIsInstead() {
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                new RpcServer(
                    Settings.of(Map.of("rpc.server.type", "sasl")),
                    new Methods(),
                    Clock.system(),
                    "",
                    1));
    assertTrue(e.getMessage().contains("ssl"), e.getMessage());
  }
}
