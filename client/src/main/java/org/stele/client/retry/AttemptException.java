package org.stele.client.retry;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * One attempt of an operation failed. It has what the retry rules need to know and no stack trace
 * of its own; what the caller of the operation sees is made by {@link Attempts}.
 */
public final class AttemptException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String server;
  private final ErrorCode code;
  private final int retryAfterMillis;
  private final boolean outcomeUnknown;
  private final boolean retryable;
  private final boolean refreshesLocation;

  private AttemptException(
      String server,
      ErrorCode code,
      String message,
      @Nullable Throwable cause,
      int retryAfterMillis,
      boolean outcomeUnknown,
      boolean retryable,
      boolean refreshesLocation) {
    super(message, cause, true, false);
    this.server = requireNonNull(server, "server is null");
    this.code = code;
    this.retryAfterMillis = retryAfterMillis;
    this.outcomeUnknown = outcomeUnknown;
    this.retryable = retryable;
    this.refreshesLocation = refreshesLocation;
  }

  /**
   * The server answered with an error, which says by its code what to do. DEADLINE_EXCEEDED is the
   * end of this attempt's time, and so retried as long as the operation has time.
   */
  public static AttemptException replied(String server, SteleException error) {
    ErrorCode code = error.code();
    boolean late = code == ErrorCode.DEADLINE_EXCEEDED;
    return new AttemptException(
        server,
        code,
        code + ": " + error.getMessage(),
        error,
        error.retryAfterMillis(),
        code == ErrorCode.UNKNOWN_OUTCOME || code == ErrorCode.INTERNAL,
        late || code.retry() == ErrorCode.Retry.WITH_BACKOFF,
        late || code.refreshesLocation());
  }

  /** No byte of the call reached the server: there is no connection, or none could be made. */
  public static AttemptException notSent(String server, String message, @Nullable Throwable cause) {
    return new AttemptException(
        server, ErrorCode.UNAVAILABLE, message, cause, 0, false, true, true);
  }

  /** The connection was lost while the call was under way. */
  public static AttemptException lost(String server, String message, @Nullable Throwable cause) {
    return new AttemptException(server, ErrorCode.UNAVAILABLE, message, cause, 0, true, true, true);
  }

  /** No answer within the time of the attempt. */
  public static AttemptException timedOut(String server, String message) {
    return new AttemptException(
        server, ErrorCode.DEADLINE_EXCEEDED, message, null, 0, true, true, true);
  }

  /**
   * This client failed in itself: it lacks memory or threads, or has a fault.
   *
   * @param maybeSent whether the server may have the call
   */
  public static AttemptException failedHere(String server, Throwable cause, boolean maybeSent) {
    return new AttemptException(
        server,
        ErrorCode.INTERNAL,
        "the client itself failed: " + cause,
        cause,
        0,
        maybeSent,
        false,
        false);
  }

  /** Too much is under way in this process already. */
  public static AttemptException busyHere(String server, String message) {
    return new AttemptException(server, ErrorCode.BUSY, message, null, 0, false, true, false);
  }

  /**
   * The same failure with where it happened, or what else helps to understand it, in its message.
   */
  public AttemptException at(String where) {
    return new AttemptException(
        server,
        code,
        getMessage() + " (" + where + ")",
        getCause() == null ? this : getCause(),
        retryAfterMillis,
        outcomeUnknown,
        retryable,
        refreshesLocation);
  }

  /** {@code host:port}, or what else was asked. */
  public String server() {
    return server;
  }

  public ErrorCode code() {
    return code;
  }

  int retryAfterMillis() {
    return retryAfterMillis;
  }

  /** Whether a change may have been done although the attempt failed. */
  public boolean isOutcomeUnknown() {
    return outcomeUnknown;
  }

  public boolean isRetryable() {
    return retryable;
  }

  /** Whether the tablet's location, with which the attempt was made, must not be used again. */
  public boolean refreshesLocation() {
    return refreshesLocation;
  }

  /** What the server said, null if it said nothing. */
  public @Nullable SteleException reply() {
    return getCause() instanceof SteleException error ? error : null;
  }
}
