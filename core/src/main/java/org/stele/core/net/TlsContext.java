package org.stele.core.net;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.stele.core.settings.ClientCertificates;

/**
 * TLS as one side speaks it, 1.2 and 1.3: its certificate, whom it trusts, and the buffers of its
 * links. Made once at start; files that change are read at the next start. Thread-safe.
 */
public final class TlsContext {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private final SSLContext context;
  private final ClientCertificates clientCertificates;
  private final TlsBuffers buffers = new TlsBuffers();

  private TlsContext(SSLContext context, ClientCertificates clientCertificates) {
    this.context = context;
    this.clientCertificates = clientCertificates;
  }

  /**
   * For connections that are accepted.
   *
   * @throws IOException naming the file that is wrong, or what is missing
   */
  public static TlsContext forServer(TlsOptions options, ClientCertificates clientCertificates)
      throws IOException {
    if (options.certificate() == null) {
      throw new IOException(
          "TLS needs the server's certificate and key (rpc.tls.certificate, rpc.tls.key)");
    }
    if (clientCertificates != ClientCertificates.NONE && options.trust() == null) {
      throw new IOException(
          "rpc.tls.client.certificates needs the certificates that vouch for clients"
              + " (rpc.tls.trust)");
    }
    return new TlsContext(context(options), clientCertificates);
  }

  /**
   * For connections that are made.
   *
   * @throws IOException naming the file that is wrong
   */
  public static TlsContext forClient(TlsOptions options) throws IOException {
    return new TlsContext(context(options), ClientCertificates.NONE);
  }

  private static SSLContext context(TlsOptions options) throws IOException {
    char @Nullable [] password = TlsFiles.password(options.passwordFile());
    Path certificate = options.certificate();
    KeyManager[] keys =
        certificate == null
            ? new KeyManager[0]
            : TlsFiles.keyManagers(certificate, options.key(), password);
    TrustManager[] trust = TlsFiles.trustManagers(options.trust(), password);
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys, trust, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("TLS is not possible: " + e.getMessage(), e);
    }
  }

  /**
   * The server's end of a connection.
   *
   * @param channel not blocking; belongs to the link from now on
   */
  public TlsLink accepted(SocketChannel channel) {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(PROTOCOLS);
    switch (clientCertificates) {
      case NONE -> parameters.setNeedClientAuth(false);
      case OPTIONAL -> parameters.setWantClientAuth(true);
      case REQUIRED -> parameters.setNeedClientAuth(true);
    }
    engine.setSSLParameters(parameters);
    return new TlsLink(channel, engine, buffers);
  }

  /**
   * The client's end of a connection; the server's certificate must be for that host.
   *
   * @param channel not blocking; belongs to the link from now on
   */
  public TlsLink connected(SocketChannel channel, String host, int port) {
    SSLEngine engine = context.createSSLEngine(host, port);
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(PROTOCOLS);
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    engine.setSSLParameters(parameters);
    return new TlsLink(channel, engine, buffers);
  }
}
