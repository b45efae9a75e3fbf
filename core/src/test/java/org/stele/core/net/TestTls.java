package org.stele.core.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * An authority, with a server's and a client's certificate from it in files, and what each side
 * needs to use them: Stele's settings and options, and the JDK's own TLS. Thread-safe.
 */
public final class TestTls {
  /** A name of servers, for tests that say themselves which address that is. */
  public static final String SERVER_NAME = "tablets.stele";

  private static final List<String> FILES =
      List.of("server.pem", "server.key", "client.pem", "client.key", "trust.pem");

  private final TestCertificates authority = new TestCertificates("test authority");
  private final TestCertificates.Identity client = authority.issue("ada", "client");
  private final Path directory;

  /**
   * @param directory that is there, for the files
   */
  public TestTls(Path directory) {
    this.directory = directory;
    writeServer(authority.issue("server", "localhost", SERVER_NAME, "127.0.0.1"));
    client.writeCertificate(file("client.pem"));
    client.writeKey(file("client.key"));
    authority.authority().writeCertificate(file("trust.pem"));
  }

  /** One for all tests of a process, whose files are deleted at its end. */
  public static TestTls shared() {
    return Shared.INSTANCE;
  }

  public TestCertificates authority() {
    return authority;
  }

  /** The certificate of a client that servers trust. */
  public TestCertificates.Identity client() {
    return client;
  }

  /** {@code server.pem}, {@code server.key}, the same of {@code client}, {@code trust.pem}. */
  public Path file(String name) {
    return directory.resolve(name);
  }

  /** The server's certificate from its next start on. */
  public void writeServer(TestCertificates.Identity server) {
    server.writeCertificate(file("server.pem"));
    server.writeKey(file("server.key"));
  }

  public Map<String, String> serverSettings() {
    return Map.of(
        "rpc.tls",
        "true",
        "rpc.tls.certificate",
        file("server.pem").toString(),
        "rpc.tls.key",
        file("server.key").toString(),
        "rpc.tls.trust",
        file("trust.pem").toString());
  }

  /** Of clients that trust the authority and show no certificate. */
  public TlsOptions clientOptions() {
    return TlsOptions.defaults().withTrust(file("trust.pem"));
  }

  /** Of clients that show this certificate. */
  public TlsOptions clientOptions(String name, TestCertificates.Identity shown) {
    return clientOptions()
        .withCertificate(shown.writeCertificate(file(name + ".pem")))
        .withKey(shown.writeKey(file(name + ".key")));
  }

  /**
   * The JDK's TLS, which trusts the authority.
   *
   * @param shown the certificate to show; null: none
   */
  public SSLContext context(TestCertificates.@Nullable Identity shown) {
    try {
      KeyStore trust = emptyStore();
      trust.setCertificateEntry("authority", authority.authority().certificate());
      TrustManagerFactory trusting = TrustManagerFactory.getInstance("PKIX");
      trusting.init(trust);
      KeyStore own = emptyStore();
      if (shown != null) {
        own.setKeyEntry(
            "client",
            shown.keys().getPrivate(),
            new char[0],
            new Certificate[] {shown.certificate()});
      }
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, new char[0]);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), trusting.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  /** The JDK's TLS on a connected socket, before its handshake. */
  public SSLSocket over(Socket socket, TestCertificates.@Nullable Identity shown)
      throws IOException {
    InetSocketAddress address = (InetSocketAddress) socket.getRemoteSocketAddress();
    SSLSocket secured =
        (SSLSocket)
            context(shown)
                .getSocketFactory()
                .createSocket(socket, "localhost", address.getPort(), true);
    secured.setUseClientMode(true);
    return secured;
  }

  /** Made when it is wanted first. */
  private static final class Shared {
    private static final TestTls INSTANCE = make();

    private static TestTls make() {
      try {
        Path directory = Files.createTempDirectory("stele-tls");
        directory.toFile().deleteOnExit(); // what is named later is deleted first
        TestTls tls = new TestTls(directory);
        FILES.forEach(name -> tls.file(name).toFile().deleteOnExit());
        return tls;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
