package org.stele.core.settings;

/** Whether a server wants to know who its clients are: {@code rpc.tls.client.certificates}. */
public enum ClientCertificates {
  /** It does not ask. */
  NONE,
  /** It asks; who has none is served, who has a wrong one is not. */
  OPTIONAL,
  /** Who has none that is trusted is not served. */
  REQUIRED
}
