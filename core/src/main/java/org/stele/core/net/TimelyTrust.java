package org.stele.core.net;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts whom another one trusts, as long as the certificate shown is valid today: the JDK lets an
 * expired one pass that is itself among the trusted.
 */
final class TimelyTrust extends X509ExtendedTrustManager {
  private final X509ExtendedTrustManager trusting;

  TimelyTrust(X509ExtendedTrustManager trusting) {
    this.trusting = trusting;
  }

  private static void checkTime(X509Certificate[] chain) throws CertificateException {
    chain[0].checkValidity();
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    trusting.checkClientTrusted(chain, type, engine);
    checkTime(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    trusting.checkServerTrusted(chain, type, engine);
    checkTime(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    trusting.checkClientTrusted(chain, type, socket);
    checkTime(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    trusting.checkServerTrusted(chain, type, socket);
    checkTime(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    trusting.checkClientTrusted(chain, type);
    checkTime(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    trusting.checkServerTrusted(chain, type);
    checkTime(chain);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return trusting.getAcceptedIssuers();
  }
}
