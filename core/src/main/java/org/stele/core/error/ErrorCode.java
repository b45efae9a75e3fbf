package org.stele.core.error;

/**
 * What went wrong, and what a client does about it (the table of docs/errors.md, which a test
 * compares with this). Numbers are those of the Thrift enum.
 */
public enum ErrorCode {
  BUSY(1, Retry.WITH_BACKOFF, false),
  DEADLINE_EXCEEDED(2, Retry.NEVER, false),
  NOT_SERVING(3, Retry.WITH_BACKOFF, true),
  UNKNOWN_TABLE(4, Retry.NEVER, true),
  OFFLINE(5, Retry.NEVER, true),
  DENIED(6, Retry.NEVER, false),
  BAD_REQUEST(7, Retry.NEVER, false),
  TOO_LARGE(8, Retry.NEVER, false),
  CONSTRAINT(9, Retry.NEVER, false),
  CORRUPT(10, Retry.NEVER, false),
  UNAVAILABLE(11, Retry.WITH_BACKOFF, true),
  UNKNOWN_OUTCOME(12, Retry.NEVER, false),
  INTERNAL(13, Retry.NEVER, false),
  TABLE_EXISTS(14, Retry.NEVER, false);

  private final int number;
  private final Retry retry;
  private final boolean refreshesLocation;

  ErrorCode(int number, Retry retry, boolean refreshesLocation) {
    this.number = number;
    this.retry = retry;
    this.refreshesLocation = refreshesLocation;
  }

  /** Its number on the wire. */
  public int number() {
    return number;
  }

  public Retry retry() {
    return retry;
  }

  /** Whether the client forgets where the tablet was before it tries again. */
  public boolean refreshesLocation() {
    return refreshesLocation;
  }

  /** Whether and when the same call is tried again by the client library. */
  public enum Retry {
    NEVER,
    WITH_BACKOFF
  }
}
