package org.stele.core.data;

/**
 * Bytes that do not follow the format they should have; the message says what is wrong and where.
 */
public final class MalformedBytesException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public MalformedBytesException(String message) {
    super(message);
  }
}
