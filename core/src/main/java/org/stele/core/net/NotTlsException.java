package org.stele.core.net;

import javax.net.ssl.SSLException;

/** The other side does not speak TLS. */
public final class NotTlsException extends SSLException {
  private static final long serialVersionUID = 1L;

  NotTlsException(String message) {
    super(message);
  }
}
