package org.stele.core.data;

/** Data above one of the {@link DataLimits}; the message names what, its size and the limit. */
public final class LimitException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public LimitException(String message) {
    super(message);
  }
}
