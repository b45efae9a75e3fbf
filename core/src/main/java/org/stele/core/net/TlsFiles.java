package org.stele.core.net;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Reads what TLS needs from files, and says in full what is wrong with one. */
final class TlsFiles {
  private static final char[] NO_PASSWORD = {};

  private TlsFiles() {}

  /** The first line of the file. */
  static char @Nullable [] password(@Nullable Path file) throws IOException {
    if (file == null) {
      return null;
    }
    checkSecret(file);
    List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    if (lines.isEmpty() || lines.get(0).isEmpty()) {
      throw new IOException(file + " has no password in its first line (rpc.tls.password.file)");
    }
    return lines.get(0).toCharArray();
  }

  /** What proves who this side is. */
  static KeyManager[] keyManagers(Path certificate, @Nullable Path key, char @Nullable [] password)
      throws IOException {
    checkSecret(key != null ? key : certificate);
    KeyStore store;
    if (isPkcs12(certificate)) {
      store = keyStore(certificate, password);
    } else {
      store = keyStore(certificate, key != null ? key : certificate, password);
    }
    try {
      KeyManagerFactory factory =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      factory.init(store, password == null ? NO_PASSWORD : password);
      return factory.getKeyManagers();
    } catch (GeneralSecurityException e) {
      throw new IOException(certificate + ": " + e.getMessage(), e);
    }
  }

  private static KeyStore keyStore(Path certificate, Path key, char @Nullable [] password)
      throws IOException {
    List<X509Certificate> chain = read(certificate, password).certificates();
    PrivateKey privateKey = read(key, password).key();
    if (chain.isEmpty()) {
      throw new IOException(certificate + " has no certificate (rpc.tls.certificate)");
    }
    if (privateKey == null) {
      throw new IOException(key + " has no private key (rpc.tls.key)");
    }
    try {
      checkBelongTogether(chain.get(0), privateKey);
      KeyStore store = empty();
      store.setKeyEntry(
          "server",
          privateKey,
          password == null ? NO_PASSWORD : password,
          chain.toArray(Certificate[]::new));
      return store;
    } catch (GeneralSecurityException e) {
      throw new IOException(key + " and " + certificate + ": " + e.getMessage(), e);
    }
  }

  private static void checkBelongTogether(X509Certificate certificate, PrivateKey key)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "EdDSA" -> "EdDSA";
          default -> "SHA256with" + key.getAlgorithm();
        };
    byte[] text = {1, 2, 3};
    boolean matches = key.getAlgorithm().equals(certificate.getPublicKey().getAlgorithm());
    if (matches) {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(text);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(text);
      matches = signature.verify(signed);
    }
    if (!matches) {
      throw new GeneralSecurityException("the key is not that of the certificate");
    }
  }

  /** Who vouches for the other side. */
  static TrustManager[] trustManagers(@Nullable Path trust, char @Nullable [] password)
      throws IOException {
    try {
      TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
      factory.init(trust == null ? null : trustStore(trust, password));
      for (TrustManager manager : factory.getTrustManagers()) {
        if (manager instanceof X509ExtendedTrustManager trusting) {
          return new TrustManager[] {new TimelyTrust(trusting)};
        }
      }
      throw new GeneralSecurityException("the JDK checks no certificates");
    } catch (GeneralSecurityException e) {
      throw new IOException(trust + ": " + e.getMessage(), e);
    }
  }

  private static KeyStore trustStore(Path trust, char @Nullable [] password)
      throws IOException, GeneralSecurityException {
    KeyStore store = empty();
    int count = 0;
    if (isPkcs12(trust)) {
      KeyStore all = keyStore(trust, password);
      for (String alias : Collections.list(all.aliases())) {
        store.setCertificateEntry(String.valueOf(count++), all.getCertificate(alias));
      }
    } else {
      for (X509Certificate certificate : read(trust, password).certificates()) {
        store.setCertificateEntry(String.valueOf(count++), certificate);
      }
    }
    if (count == 0) {
      throw new IOException(trust + " has no certificate (rpc.tls.trust)");
    }
    return store;
  }

  private static boolean isPkcs12(Path file) {
    String name = file.toString().toLowerCase(Locale.ROOT);
    return name.endsWith(".p12") || name.endsWith(".pfx");
  }

  private static KeyStore keyStore(Path file, char @Nullable [] password) throws IOException {
    try (InputStream in = open(file)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password);
      return store;
    } catch (GeneralSecurityException | IOException e) {
      throw e instanceof NoSuchFileException ? missing(file) : new IOException(file + ": " + e, e);
    }
  }

  private static InputStream open(Path file) throws IOException {
    return Files.newInputStream(file);
  }

  private static KeyStore empty() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static PemFile read(Path file, char @Nullable [] password) throws IOException {
    try {
      return PemFile.read(file, password);
    } catch (NoSuchFileException e) {
      throw missing(file);
    }
  }

  private static IOException missing(Path file) {
    return new IOException("the file " + file + " is not there (rpc.tls settings)");
  }

  /** A secret that everybody on the machine can read is none. */
  private static void checkSecret(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw missing(file);
    }
    if (Files.getFileStore(file).supportsFileAttributeView("posix")
        && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
      throw new IOException(
          file + " can be read by all users of this machine: 'chmod o-r " + file + "' ends that");
    }
  }
}
