package org.stele.peers.harness;

/** A store answered, but not with what was written: the whole run is worthless. */
final class WrongAnswerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WrongAnswerException(String message) {
    super(message);
  }
}
