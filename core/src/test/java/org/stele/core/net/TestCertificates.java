package org.stele.core.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.List;
import javax.security.auth.x500.X500Principal;

/**
 * Makes certificates for tests, so that none with its private key needs to lie in the repository:
 * an authority, and certificates that it signs. Elliptic keys, valid for a day unless expired.
 */
public final class TestCertificates {
  private static final byte[] ECDSA_WITH_SHA256 = {
    0x30, 0x0a, 0x06, 0x08, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 0x04, 0x03, 0x02
  };
  private static final byte[] BASIC_CONSTRAINTS = {0x06, 0x03, 0x55, 0x1d, 0x13};
  private static final byte[] ALTERNATIVE_NAMES = {0x06, 0x03, 0x55, 0x1d, 0x11};
  private static final byte[] TRUE = {0x01, 0x01, (byte) 0xff};
  private static final long DAY_SECONDS = 86_400;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  private static long serial = 1;

  private final Identity authority;

  /** An authority of that name. */
  public TestCertificates(String name) {
    KeyPair keys = newKeys();
    authority = new Identity(sign(name, keys, name, keys, List.of(), false), keys, List.of());
  }

  /** The authority's own certificate. */
  public Identity authority() {
    return authority;
  }

  /** A valid certificate for hosts: names, or addresses. */
  public Identity issue(String name, String... hosts) {
    return issue(name, false, hosts);
  }

  /** One that was valid until yesterday. */
  public Identity issueExpired(String name, String... hosts) {
    return issue(name, true, hosts);
  }

  private Identity issue(String name, boolean expired, String... hosts) {
    KeyPair keys = newKeys();
    String issuer = commonName(authority.certificate());
    X509Certificate certificate =
        sign(name, keys, issuer, authority.keys(), List.of(hosts), expired);
    return new Identity(certificate, keys, List.of(authority.certificate()));
  }

  private static String commonName(X509Certificate certificate) {
    return certificate.getSubjectX500Principal().getName().substring("CN=".length());
  }

  private static KeyPair newKeys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A certificate and its key. */
  public record Identity(X509Certificate certificate, KeyPair keys, List<X509Certificate> chain) {
    /** Writes the certificate, and those that lead to the authority. */
    public Path writeCertificate(Path file) {
      StringBuilder text = new StringBuilder();
      try {
        text.append(pem("CERTIFICATE", certificate.getEncoded()));
        for (X509Certificate issuer : chain) {
          text.append(pem("CERTIFICATE", issuer.getEncoded()));
        }
        return write(file, text.toString().getBytes(US_ASCII));
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }

    public Path writeKey(Path file) {
      return write(file, pem("PRIVATE KEY", keys.getPrivate().getEncoded()).getBytes(US_ASCII));
    }

    /** Certificate and key, or the certificate alone. */
    public Path writePkcs12(Path file, String password, boolean withKey) {
      try {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        if (withKey) {
          Certificate[] all = new Certificate[1 + chain.size()];
          all[0] = certificate;
          for (int i = 0; i < chain.size(); i++) {
            all[i + 1] = chain.get(i);
          }
          store.setKeyEntry("it", keys.getPrivate(), password.toCharArray(), all);
        } else {
          store.setCertificateEntry("it", certificate);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        store.store(bytes, password.toCharArray());
        return write(file, bytes.toByteArray());
      } catch (GeneralSecurityException | IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Writes a file that only its owner can read. */
  public static Path write(Path file, byte[] bytes) {
    try {
      Files.deleteIfExists(file);
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.write(file, bytes);
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String pem(String what, byte[] bytes) {
    return "-----BEGIN "
        + what
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes)
        + "\n-----END "
        + what
        + "-----\n";
  }

  // ---- X.509

  private static X509Certificate sign(
      String name,
      KeyPair keys,
      String issuer,
      KeyPair issuerKeys,
      List<String> hosts,
      boolean expired) {
    try {
      long now = Instant.now().getEpochSecond();
      long from = now - (expired ? 10 : 1) * DAY_SECONDS;
      long until = now + (expired ? -1 : 1) * DAY_SECONDS;
      byte[] extensions =
          hosts.isEmpty() ? extension(BASIC_CONSTRAINTS, TRUE, der(0x30, TRUE)) : names(hosts);
      byte[] body =
          der(
              0x30,
              der(0xa0, integer(2)),
              integer(nextSerial()),
              ECDSA_WITH_SHA256,
              new X500Principal("CN=" + issuer).getEncoded(),
              der(0x30, time(from), time(until)),
              new X500Principal("CN=" + name).getEncoded(),
              keys.getPublic().getEncoded(),
              der(0xa3, der(0x30, extensions)));
      Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(issuerKeys.getPrivate());
      signature.update(body);
      byte[] whole =
          der(0x30, body, ECDSA_WITH_SHA256, der(0x03, new byte[] {0}, signature.sign()));
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(whole));
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static synchronized long nextSerial() {
    return serial++;
  }

  private static byte[] names(List<String> hosts) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String host : hosts) {
      boolean isAddress = host.matches("[0-9.]+|.*:.*");
      all.write(
          isAddress
              ? der(0x87, InetAddress.getByName(host).getAddress())
              : der(0x82, host.getBytes(US_ASCII)));
    }
    return extension(ALTERNATIVE_NAMES, new byte[0], der(0x30, all.toByteArray()));
  }

  private static byte[] extension(byte[] id, byte[] critical, byte[] value) throws IOException {
    return der(0x30, id, critical, der(0x04, value));
  }

  private static byte[] integer(long value) throws IOException {
    return der(0x02, BigInteger.valueOf(value).toByteArray());
  }

  private static byte[] time(long seconds) throws IOException {
    return der(0x18, TIME.format(Instant.ofEpochSecond(seconds)).getBytes(US_ASCII));
  }

  private static byte[] der(int tag, byte[]... parts) throws IOException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.write(part);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(tag);
    writeLength(all, content.size());
    content.writeTo(all);
    return all.toByteArray();
  }

  private static void writeLength(OutputStream out, int length) throws IOException {
    if (length >= 0x80) {
      out.write(length >= 0x100 ? 0x82 : 0x81);
    }
    if (length >= 0x100) {
      out.write(length >> 8);
    }
    out.write(length);
  }
}
