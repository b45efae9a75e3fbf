package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.net.TestCertificates;
import org.stele.core.net.TestTls;
import org.stele.core.net.TlsOptions;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.RawSocket;
import org.stele.test.process.Installation;
import org.stele.test.process.Serving;
import org.stele.test.process.StandaloneServer;

/**
 * Encryption that is required is enforced, with a clear word to both sides and without hanging; and
 * clients that do not go on with their handshake hold nobody up.
 */
class TlsIT {
  private static final int SILENT = 200;
  private static final Duration HANDSHAKE = Duration.ofSeconds(8);
  private static final int LARGE_REPLY = 16 << 20;
  private static final int STEP = 1 << 20;

  @TempDir private Path directory;

  private TestTls tls;

  @AfterEach
  void useDefault() {
    ServerKind.useDefault();
  }

  private StandaloneServer start() throws IOException {
    tls = new TestTls(Files.createDirectory(directory.resolve("certificates")));
    Map<String, String> settings = new HashMap<>(tls.serverSettings());
    settings.put("rpc.server.type", "ssl");
    settings.put("rpc.tls.client.certificates", "required");
    TlsOptions ada = tls.clientOptions("ada", tls.authority().issue("ada", "client"));
    Serving.use(new Serving(settings, ClientOptions.defaults().withTls(ada)));
    RawSocket.encryptWith(tls.context(tls.client()).getSocketFactory());
    return StandaloneServer.started(directory.resolve("data"), Map.of());
  }

  @Test
  void whoIsNotAsRequiredIsToldAtOnce() throws Exception {
    try (StandaloneServer server = start()) {
      // the command line shows the certificate of the settings
      server.stele("table", "create", "people").orFail();
      try (SteleClient client = server.client()) {
        client.write("people", Mutation.of("ada").put("name", "last", "Lovelace"));
        assertEquals("Lovelace", client.lookup("people", "ada").get("name", "last"));
      }
      ClientOptions options = ClientOptions.defaults();
      assertDenied(server, options, "speaks TLS only", "does not speak TLS");
      assertDenied(server, options.withTls(tls.clientOptions()), "alert", "handshake failed");
      assertDenied(
          server,
          options.withTls(
              tls.clientOptions("expired", tls.authority().issueExpired("ada", "client"))),
          "alert",
          "handshake failed");
      assertDenied(
          server,
          options.withTls(
              tls.clientOptions(
                  "foreign", new TestCertificates("test authority").issue("ada", "client"))),
          "alert",
          "handshake failed");
      // what the JDK trusts by itself is not this server
      assertDenied(
          server,
          options.withTls(TlsOptions.defaults()),
          "unable to find valid certification path",
          "handshake failed");
    }
  }

  private static void assertDenied(
      StandaloneServer server, ClientOptions options, String told, String logged) {
    try (SteleClient client = SteleClient.connect(server.zookeeper(), options)) {
      int before = server.log().size();
      long begin = System.nanoTime();
      SteleException e = assertThrows(SteleException.class, () -> client.lookup("people", "ada"));
      Duration took = Duration.ofNanos(System.nanoTime() - begin);
      assertEquals(ErrorCode.DENIED, e.code(), e.getMessage());
      assertTrue(e.getMessage().contains(told), e.getMessage());
      assertTrue(took.compareTo(TestForm.generous(Duration.ofSeconds(2))) < 0, took::toString);
      // at most one line a second
      Conditions.await(
          "the server's log says '" + logged + "'",
          TestForm.generous(Duration.ofSeconds(3)),
          () -> {
            assertThrows(SteleException.class, () -> client.lookup("people", "ada"));
            List<String> log = server.log();
            return log.subList(before, log.size()).stream().anyMatch(line -> line.contains(logged));
          });
    }
  }

  @Test
  void silentHandshakesHoldNobodyUp() throws Exception {
    try (StandaloneServer server = start();
        HealthyClient healthy = HealthyClient.start(server)) {
      int port = server.port();
      RawSocket.encryptWith(null);
      List<RawSocket> silent = new ArrayList<>();
      byte[] begun = {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3, 1, 2, 3};
      for (int i = 0; i < SILENT; i++) {
        silent.add(RawSocket.connect(port).send(begun));
      }
      healthy.awaitOperations(500);
      for (RawSocket socket : silent) {
        assertTrue(
            socket.isEndedWithin(TestForm.generous(HANDSHAKE)), "a silent handshake goes on");
        socket.close();
      }
      healthy.assertUndisturbed();
      RawSocket.encryptWith(tls.context(tls.client()).getSocketFactory());
    }
  }

  @Test
  void aLargeAnswerReachesASlowReader() throws Exception {
    try (StandaloneServer server = start();
        RawSocket reader = RawSocket.connect(server.port(), 16 << 10)) {
      reader.sendFrame(CompactCall.ping(new byte[10], LARGE_REPLY));
      int left =
          ByteBuffer.wrap(reader.readExactly(4, TestForm.generous(Duration.ofSeconds(5)))).getInt();
      assertTrue(left > LARGE_REPLY);
      while (left > 0) {
        int count = Math.min(left, STEP);
        left -= reader.readExactly(count, TestForm.generous(Duration.ofSeconds(5))).length;
        LockSupport.parkNanos(50_000_000);
      }
      byte[] more =
          reader.call(CompactCall.ping(new byte[8], 8), TestForm.generous(Duration.ofSeconds(5)));
      assertEquals(0x82, more[0] & 0xff);
    }
  }

  /** No file and no variable says that there is TLS. */
  @Test
  void optionsAloneAreEnough() throws Exception {
    tls = new TestTls(Files.createDirectory(directory.resolve("certificates")));
    try (StandaloneServer server =
        new StandaloneServer(Installation.shared(), directory.resolve("data"), Map.of())) {
      server.stele(withSettings("--set=", "start", "--port=0")).orFail();
      server.stele("stop").orFail();
      Path temp = Files.createDirectory(directory.resolve("temp"));
      for (String bench : List.of("lookups", "rpc")) {
        List<String> levels =
            server
                .stele(
                    withSettings(
                        "--server-setting=",
                        "bench",
                        bench,
                        "--json",
                        "--threads=2",
                        "--seconds=0.2",
                        "--warmup=0",
                        "--temp=" + temp))
                .orFail()
                .lines();
        assertEquals(1, levels.size());
        assertTrue(levels.get(0).contains("\"system\":\"stele\""), levels::toString);
      }
    }
  }

  private String[] withSettings(String option, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    tls.serverSettings().forEach((name, value) -> all.add(option + name + "=" + value));
    return all.toArray(String[]::new);
  }
}
