package org.stele.tserver.tablet;

import java.io.IOException;

/** The metadata no longer names this server as the owner of the tablet: it must stop serving it. */
public final class LostTabletException extends IOException {
  private static final long serialVersionUID = 1L;

  public LostTabletException(String message) {
    super(message);
  }
}
