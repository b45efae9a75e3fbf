package org.stele.test.cases;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.stele.core.net.TestCertificates;
import org.stele.core.net.TlsOptions;

/** An authority, and a server's and a client's certificate from it, in files. */
final class TestTls {
  private static final TestTls SHARED = inTemporaryDirectory();

  private final TestCertificates authority = new TestCertificates("test authority");
  private final TestCertificates.Identity client = authority.issue("ada", "client");
  private final Path directory;

  TestTls(Path directory) {
    this.directory = directory;
    writeServer(authority.issue("server", "localhost", "127.0.0.1"));
    client.writeCertificate(file("client.pem"));
    client.writeKey(file("client.key"));
    authority.authority().writeCertificate(file("trust.pem"));
  }

  private static TestTls inTemporaryDirectory() {
    try {
      Path directory = Files.createTempDirectory("stele-tls");
      directory.toFile().deleteOnExit();
      TestTls tls = new TestTls(directory);
      for (String name :
          List.of("server.pem", "server.key", "client.pem", "client.key", "trust.pem")) {
        tls.file(name).toFile().deleteOnExit();
      }
      return tls;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static TestTls shared() {
    return SHARED;
  }

  TestCertificates authority() {
    return authority;
  }

  Path file(String name) {
    return directory.resolve(name);
  }

  /** The server's certificate from its next start on. */
  void writeServer(TestCertificates.Identity server) {
    server.writeCertificate(file("server.pem"));
    server.writeKey(file("server.key"));
  }

  Map<String, String> serverSettings() {
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
  TlsOptions clientOptions() {
    return TlsOptions.defaults().withTrust(file("trust.pem"));
  }

  /** Of clients that show this certificate. */
  TlsOptions clientOptions(String name, TestCertificates.Identity shown) {
    return clientOptions()
        .withCertificate(shown.writeCertificate(file(name + ".pem")))
        .withKey(shown.writeKey(file(name + ".key")));
  }

  /** The JDK's TLS with the client's certificate. */
  SSLContext context() {
    try {
      KeyStore trust = KeyStore.getInstance("PKCS12");
      trust.load(null, null);
      trust.setCertificateEntry("authority", authority.authority().certificate());
      TrustManagerFactory trusting = TrustManagerFactory.getInstance("PKIX");
      trusting.init(trust);
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, null);
      own.setKeyEntry(
          "client",
          client.keys().getPrivate(),
          new char[0],
          new java.security.cert.Certificate[] {client.certificate()});
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
}
