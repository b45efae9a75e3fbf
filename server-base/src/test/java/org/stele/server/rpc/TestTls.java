package org.stele.server.rpc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.stele.core.net.TestCertificates;

/** Certificates of a server in files, and sockets of clients that trust it, by the JDK alone. */
final class TestTls {
  private static final TestCertificates AUTHORITY = new TestCertificates("test authority");
  private static final Path DIRECTORY = files();

  private TestTls() {}

  private static Path files() {
    try {
      Path directory = Files.createTempDirectory("stele-tls");
      TestCertificates.Identity server = AUTHORITY.issue("server", "localhost", "127.0.0.1");
      List<Path> files =
          List.of(
              server.writeCertificate(directory.resolve("server.pem")),
              server.writeKey(directory.resolve("server.key")),
              AUTHORITY.authority().writeCertificate(directory.resolve("trust.pem")),
              directory);
      // deleted in reverse order
      for (int i = files.size() - 1; i >= 0; i--) {
        files.get(i).toFile().deleteOnExit();
      }
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static TestCertificates authority() {
    return AUTHORITY;
  }

  static Path file(String name) {
    return DIRECTORY.resolve(name);
  }

  static Map<String, String> settings(String serverType) {
    return Map.of(
        "rpc.server.type",
        serverType,
        "rpc.selectors",
        "2",
        "rpc.tls",
        "true",
        "rpc.tls.certificate",
        file("server.pem").toString(),
        "rpc.tls.key",
        file("server.key").toString(),
        "rpc.tls.trust",
        file("trust.pem").toString());
  }

  /** TLS on a connected socket, before its handshake. */
  static SSLSocket over(Socket socket, TestCertificates.@Nullable Identity client)
      throws IOException {
    InetSocketAddress address = (InetSocketAddress) socket.getRemoteSocketAddress();
    try {
      SSLSocket secured =
          (SSLSocket)
              context(client)
                  .getSocketFactory()
                  .createSocket(socket, "localhost", address.getPort(), true);
      secured.setUseClientMode(true);
      return secured;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  static SSLContext context(TestCertificates.@Nullable Identity client)
      throws GeneralSecurityException, IOException {
    KeyStore trust = KeyStore.getInstance("PKCS12");
    trust.load(null, null);
    trust.setCertificateEntry("authority", AUTHORITY.authority().certificate());
    TrustManagerFactory trusting = TrustManagerFactory.getInstance("PKIX");
    trusting.init(trust);
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    KeyStore own = KeyStore.getInstance("PKCS12");
    own.load(null, null);
    if (client != null) {
      own.setKeyEntry(
          "client",
          client.keys().getPrivate(),
          new char[0],
          new java.security.cert.Certificate[] {client.certificate()});
    }
    keys.init(own, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trusting.getTrustManagers(), null);
    return context;
  }
}
