package org.stele.server.process;

/**
 * A server that cannot start, for a reason its operator can do something about; the message says
 * what and where.
 */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public StartException(String message) {
    super(message);
  }

  public StartException(String message, Throwable cause) {
    super(message, cause);
  }
}
