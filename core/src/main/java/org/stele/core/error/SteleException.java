package org.stele.core.error;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * An operation that failed with an outcome its caller can act on. Thrown by the stages of a server,
 * sent to the client as a typed error, and thrown there again with server, tablet, attempts and
 * last cause in the message.
 */
public class SteleException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final int retryAfterMillis;
  private final @Nullable String file;
  private final long offset;

  public SteleException(ErrorCode code, String message) {
    this(code, message, null);
  }

  public SteleException(ErrorCode code, String message, @Nullable Throwable cause) {
    this(code, message, cause, 0, null, 0);
  }

  public SteleException(
      ErrorCode code,
      String message,
      @Nullable Throwable cause,
      int retryAfterMillis,
      @Nullable String file,
      long offset) {
    super(message, cause);
    this.code = requireNonNull(code, "code is null");
    this.retryAfterMillis = retryAfterMillis;
    this.file = file;
    this.offset = offset;
  }

  /** {@link ErrorCode#BUSY}: nothing was done; a good time to wait is {@code retryAfterMillis}. */
  public static SteleException busy(String message, int retryAfterMillis) {
    return new SteleException(ErrorCode.BUSY, message, null, retryAfterMillis, null, 0);
  }

  /** {@link ErrorCode#CORRUPT}: damaged bytes at {@code offset} of {@code file}. */
  public static SteleException corrupt(String message, Throwable cause, String file, long offset) {
    return new SteleException(ErrorCode.CORRUPT, message, cause, 0, file, offset);
  }

  public ErrorCode code() {
    return code;
  }

  /** With {@link ErrorCode#BUSY} a good time to wait in milliseconds, else 0. */
  public int retryAfterMillis() {
    return retryAfterMillis;
  }

  /** With {@link ErrorCode#CORRUPT} the damaged file, else null. */
  public @Nullable String file() {
    return file;
  }

  public long offset() {
    return offset;
  }
}
