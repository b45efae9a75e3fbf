package org.stele.core.concurrent;

/**
 * Thrown before blocking on a thread that must not. One instance without a stack trace: it is not
 * an error.
 */
public final class WouldBlockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("StaticAssignmentOfThrowable")
  static final WouldBlockException INSTANCE = new WouldBlockException();

  private WouldBlockException() {
    super("this thread must not block", null, false, false);
  }
}
