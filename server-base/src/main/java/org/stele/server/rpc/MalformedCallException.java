package org.stele.server.rpc;

/** The bytes of a call are not what its method takes; the caller's fault. */
final class MalformedCallException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedCallException(String message) {
    super(message, null, false, false);
  }
}
