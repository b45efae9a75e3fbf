package org.stele.core.net;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.jspecify.annotations.Nullable;

/** The certificates and the private key in a PEM file. Immutable. */
record PemFile(List<X509Certificate> certificates, @Nullable PrivateKey key) {
  private static final int MAX_BYTES = 16 << 20;
  private static final List<String> KEY_ALGORITHMS = List.of("EC", "RSA", "EdDSA", "DSA");
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");

  /**
   * @throws IOException naming the file and what is wrong with it
   */
  static PemFile read(Path file, char @Nullable [] password) throws IOException {
    String text = text(file);
    List<X509Certificate> certificates = new ArrayList<>();
    PrivateKey key = null;
    Matcher blocks = BLOCK.matcher(text);
    while (blocks.find()) {
      try {
        byte[] bytes = Base64.getMimeDecoder().decode(blocks.group(2));
        switch (blocks.group(1)) {
          case "CERTIFICATE" -> certificates.add(certificate(bytes));
          case "PRIVATE KEY" -> key = privateKey(bytes);
          case "ENCRYPTED PRIVATE KEY" -> key = decrypted(bytes, password);
          case "RSA PRIVATE KEY", "EC PRIVATE KEY" ->
              throw new InvalidKeySpecException(
                  "the key is in an old format; 'openssl pkcs8 -topk8 -in OLD -out NEW' makes a"
                      + " file that can be read");
          default -> {} // parameters and requests, which nobody needs here
        }
      } catch (GeneralSecurityException | IllegalArgumentException | IOException e) {
        throw new IOException(file + ": " + blocks.group(1) + ": " + e.getMessage(), e);
      }
    }
    return new PemFile(List.copyOf(certificates), key);
  }

  private static String text(Path file) throws IOException {
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException(file + " has more than " + MAX_BYTES + " bytes: it is no PEM file");
    }
    return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
  }

  private static X509Certificate certificate(byte[] bytes) throws GeneralSecurityException {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(bytes));
  }

  private static PrivateKey privateKey(byte[] pkcs8) throws GeneralSecurityException {
    for (String algorithm : KEY_ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
      } catch (InvalidKeySpecException e) {
        // of another algorithm
      }
    }
    throw new InvalidKeySpecException("no key of a known kind: " + KEY_ALGORITHMS);
  }

  private static PrivateKey decrypted(byte[] bytes, char @Nullable [] password)
      throws GeneralSecurityException, IOException {
    if (password == null) {
      throw new InvalidKeySpecException("the key is encrypted (rpc.tls.password.file)");
    }
    EncryptedPrivateKeyInfo info = new EncryptedPrivateKeyInfo(bytes);
    String algorithm = info.getAlgName();
    if (algorithm.equals("PBES2") || algorithm.equals("1.2.840.113549.1.5.13")) {
      algorithm = info.getAlgParameters().toString(); // which names what PBES2 is made of
    }
    Cipher cipher = Cipher.getInstance(algorithm);
    cipher.init(
        Cipher.DECRYPT_MODE,
        SecretKeyFactory.getInstance(algorithm).generateSecret(new PBEKeySpec(password)),
        info.getAlgParameters());
    return privateKey(info.getKeySpec(cipher).getEncoded());
  }
}
