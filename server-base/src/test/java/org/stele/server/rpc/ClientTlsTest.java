package org.stele.server.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.RpcClient;
import org.stele.client.rpc.RpcOptions;
import org.stele.client.rpc.ServerCalls;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.net.TestCertificates;
import org.stele.core.net.TestTls;
import org.stele.core.net.TlsContext;
import org.stele.core.net.TlsOptions;
import org.stele.core.time.Clock;

/** Our client and our server with TLS between them, right and wrong. */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"SSL", "THREADPOOL_WITH_TLS"})
class ClientTlsTest {
  @Parameter ServerKind kind;
  @TempDir Path temp;

  private final List<AutoCloseable> opened = new ArrayList<>();

  private EndpointFixture start(String... more) throws IOException {
    EndpointFixture.kind = kind;
    EndpointFixture endpoint = EndpointFixture.start(more);
    opened.add(0, endpoint);
    return endpoint;
  }

  @AfterEach
  void closeAll() throws Exception {
    EndpointFixture.kind = ServerKind.THREADED_SELECTOR;
    for (AutoCloseable one : opened) {
      one.close();
    }
  }

  private ServerCalls client(TlsOptions options) throws IOException {
    return client(
        new RpcOptions(Duration.ofSeconds(10), 2, 64 << 20, "", 1, TlsContext.forClient(options)));
  }

  private ServerCalls client(RpcOptions options) {
    RpcClient client = new RpcClient(options, Clock.system(), () -> EndpointFixture.INSTANCE);
    opened.add(0, client);
    return new ServerCalls(client);
  }

  private static ServerCalls plainClientOf(ClientTlsTest test) {
    return test.client(new RpcOptions(Duration.ofSeconds(10), 2, 64 << 20, "", 1));
  }

  private TlsOptions trusting() {
    return TestTls.shared().clientOptions();
  }

  private TlsOptions as(TestCertificates.Identity identity) {
    return trusting()
        .withCertificate(identity.writeCertificate(temp.resolve("client.pem")))
        .withKey(identity.writeKey(temp.resolve("client.key")));
  }

  private static String address(EndpointFixture endpoint, String host) {
    return host + ":" + endpoint.server.address().getPort();
  }

  private static CallLimits inTime() {
    return new CallLimits(System.nanoTime() + TimeUnit.SECONDS.toNanos(20), 1, 0);
  }

  private static AttemptException failure(ServerCalls calls, String address) {
    return assertThrows(
        AttemptException.class, () -> calls.ping(address, Bytes.of("x"), 1, inTime()));
  }

  /** The caller is told at once, what and by whom, and is not made to try again. */
  private static void assertDenied(AttemptException failure, String address, String reason) {
    assertEquals(ErrorCode.DENIED, failure.code(), failure.getMessage());
    assertEquals(address, failure.server());
    assertTrue(!failure.isRetryable() && !failure.isOutcomeUnknown());
    assertTrue(failure.getMessage().contains(reason), failure.getMessage());
  }

  @Test
  void callsOfManyThreadsAllGetTheirOwnAnswers() throws Exception {
    EndpointFixture endpoint = start();
    ServerCalls calls = client(trusting());
    ExecutorService threads = Executors.newFixedThreadPool(16, Thread::new);
    opened.add(0, threads::shutdownNow);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      int number = i;
      all.add(
          threads.submit(
              () -> {
                for (int j = 0; j < 300; j++) {
                  String text = number + "/" + j;
                  Bytes answer =
                      calls.ping(
                          address(endpoint, "localhost"),
                          Bytes.of(text),
                          text.length() + j % 3 * 40_000,
                          inTime());
                  assertEquals(text, answer.toUtf8().substring(0, text.length()));
                }
                return null;
              }));
    }
    for (Future<?> one : all) {
      one.get(100, TimeUnit.SECONDS);
    }
    assertTrue(endpoint.count("rpc.tls.handshakes") <= 2, "connections are shared");
  }

  @Test
  void largeRequestsAndAnswersPass() throws Exception {
    EndpointFixture endpoint = start();
    ServerCalls calls = client(trusting());
    byte[] payload = new byte[20 << 20];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) (i * 7 + i / 1000);
    }
    Bytes sent = Bytes.wrap(payload);
    assertEquals(sent, calls.ping(address(endpoint, "127.0.0.1"), sent, payload.length, inTime()));
  }

  @Test
  void aClientShowsItsCertificate() throws Exception {
    EndpointFixture endpoint = start("rpc.tls.client.certificates", "required");
    String address = address(endpoint, "localhost");
    ServerCalls calls = client(as(TestTls.shared().authority().issue("ada", "client")));
    assertEquals("x", calls.ping(address, Bytes.of("x"), 1, inTime()).toUtf8());
    assertDenied(failure(client(trusting()), address), address, "alert");
    TestCertificates.Identity expired = TestTls.shared().authority().issueExpired("ada", "client");
    assertDenied(failure(client(as(expired)), address), address, "alert");
    TestCertificates.Identity foreign = new TestCertificates("test authority").issue("ada", "c");
    assertDenied(failure(client(as(foreign)), address), address, "alert");
    endpoint.await("rpc.tls.handshake.failures", 3);
  }

  @Test
  void aServerWhoseCertificateIsWrongIsNotSpokenTo() throws Exception {
    TestCertificates foreign = new TestCertificates("another authority");
    assertServerDenied(foreign.issue("server", "localhost"), "unable to find valid certification");
    assertServerDenied(
        TestTls.shared().authority().issue("server", "other.example"),
        "No subject alternative DNS name");
    assertServerDenied(
        TestTls.shared().authority().issueExpired("server", "localhost"), "NotAfter");
  }

  private void assertServerDenied(TestCertificates.Identity identity, String reason)
      throws Exception {
    EndpointFixture endpoint =
        start(
            "rpc.tls.certificate",
            identity.writeCertificate(temp.resolve("server.pem")).toString(),
            "rpc.tls.key",
            identity.writeKey(temp.resolve("server.key")).toString());
    String address = address(endpoint, "localhost");
    assertDenied(failure(client(trusting()), address), address, reason);
    endpoint.await("rpc.tls.handshake.failures", 1);
  }

  @Test
  void anExpiredCertificateIsRefusedEvenIfItIsItselfTrusted() throws Exception {
    TestCertificates.Identity expired =
        TestTls.shared().authority().issueExpired("server", "localhost");
    EndpointFixture endpoint =
        start(
            "rpc.tls.certificate",
            expired.writeCertificate(temp.resolve("server.pem")).toString(),
            "rpc.tls.key",
            expired.writeKey(temp.resolve("server.key")).toString());
    Path trust =
        TestCertificates.write(
            temp.resolve("trust.pem"),
            java.nio.file.Files.readAllBytes(temp.resolve("server.pem")));
    ServerCalls calls = client(TlsOptions.defaults().withTrust(trust));
    String address = address(endpoint, "localhost");
    assertDenied(failure(calls, address), address, "NotAfter");
  }

  @Test
  void oneSideWithoutTlsIsToldAtOnce() throws Exception {
    EndpointFixture encrypted = start();
    String address = address(encrypted, "localhost");
    assertDenied(failure(plainClientOf(this), address), address, "speaks TLS only");
    EndpointFixture.kind =
        kind == ServerKind.SSL ? ServerKind.THREADED_SELECTOR : ServerKind.THREADPOOL;
    EndpointFixture plain = EndpointFixture.start();
    opened.add(0, plain);
    address = address(plain, "localhost");
    assertDenied(failure(client(trusting()), address), address, "does not speak TLS");
    plain.await("rpc.connections", 0);
    plain.assertServes();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aServerThatDoesNotShakeHandsIsGivenUpInTime(boolean closes) throws Exception {
    try (ServerSocket silent = new ServerSocket(0)) { // connections wait in its backlog
      if (closes) {
        Thread closing = new Thread(() -> closeAllThatCome(silent), "closing-server");
        closing.setDaemon(true);
        closing.start();
      }
      String address = "localhost:" + silent.getLocalPort();
      ServerCalls calls =
          client(
              new RpcOptions(
                  Duration.ofMillis(500), 1, 1 << 20, "", 1, TlsContext.forClient(trusting())));
      AttemptException failure = failure(calls, address);
      if (closes) {
        assertTrue(failure.getMessage().contains("TLS handshake"), failure.getMessage());
      } else {
        assertTrue(failure.getMessage().contains("not secured by TLS"), failure.getMessage());
      }
      assertTrue(failure.isRetryable(), "it may be overloaded");
    }
  }

  private static void closeAllThatCome(ServerSocket server) {
    try {
      while (true) {
        server.accept().close();
      }
    } catch (IOException e) {
      return; // the test is over
    }
  }
}
