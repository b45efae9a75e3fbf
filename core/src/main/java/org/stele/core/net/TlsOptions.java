package org.stele.core.net;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.stele.core.settings.ServerType;
import org.stele.core.settings.Setting;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;

/**
 * Where one side of TLS has its files: PEM, or PKCS12 if the name ends with {@code .p12} or {@code
 * .pfx}.
 *
 * @param certificate who this side is: its certificate, and those that lead from it to a trusted
 *     one; null: it shows none
 * @param key the certificate's private key; null: it is in the file of the certificate
 * @param trust certificates that vouch for the other side; null: those that the JDK trusts
 * @param passwordFile its first line opens PKCS12 files and encrypted keys; null: there is no
 *     password
 */
public record TlsOptions(
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path trust,
    @Nullable Path passwordFile) {

  /** No certificate of its own, and the trust of the JDK. */
  public static TlsOptions defaults() {
    return new TlsOptions(null, null, null, null);
  }

  public TlsOptions withCertificate(Path newCertificate) {
    return new TlsOptions(Objects.requireNonNull(newCertificate), key, trust, passwordFile);
  }

  public TlsOptions withKey(Path newKey) {
    return new TlsOptions(certificate, Objects.requireNonNull(newKey), trust, passwordFile);
  }

  public TlsOptions withTrust(Path newTrust) {
    return new TlsOptions(certificate, key, Objects.requireNonNull(newTrust), passwordFile);
  }

  public TlsOptions withPasswordFile(Path newPasswordFile) {
    return new TlsOptions(certificate, key, trust, Objects.requireNonNull(newPasswordFile));
  }

  /** Whether the settings want TLS: by {@code rpc.tls}, or by the type of server. */
  public static boolean isWanted(Settings settings) {
    return settings.get(StandardSettings.RPC_TLS)
        || settings.get(StandardSettings.RPC_SERVER_TYPE) == ServerType.SSL;
  }

  /**
   * The files that the settings name; servers and clients read the same ones, since every server is
   * a client of the others.
   */
  public static TlsOptions of(Settings settings) {
    return new TlsOptions(
        path(settings, StandardSettings.RPC_TLS_CERTIFICATE),
        path(settings, StandardSettings.RPC_TLS_KEY),
        path(settings, StandardSettings.RPC_TLS_TRUST),
        path(settings, StandardSettings.RPC_TLS_PASSWORD_FILE));
  }

  private static @Nullable Path path(Settings settings, Setting<String> setting) {
    String text = settings.get(setting);
    return text.isEmpty() ? null : Path.of(text);
  }
}
