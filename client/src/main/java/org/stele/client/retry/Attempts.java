package org.stele.client.retry;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/**
 * The attempts of one operation. Used by one thread at a time.
 *
 * <p>What it throws names operation, server, number of attempts and the last cause. Its code is
 * that of the last failure, with three exceptions: of a change, one of whose attempts may have been
 * done, it is UNKNOWN_OUTCOME; it is DEADLINE_EXCEEDED if only the end of its time kept it from
 * going on, and BUSY if only the spent retry budget did.
 */
public final class Attempts {
  /** A deadline is kept while more than this share of an attempt's time is left. */
  private static final int KEPT_SHARE = 8;

  private final RetryPolicy policy;
  private final Clock clock;
  private final RetryPolicy.Operation operation;
  private final boolean changes;
  private final long startNanos;
  private final long deadlineNanos;
  private int attempt = 1;
  private boolean outcomeUnknown;
  private @Nullable AttemptException lastFailure;

  /** Of the attempt that began last. */
  private long attemptEndNanos;

  private boolean keepsEnd;

  Attempts(
      RetryPolicy policy,
      Clock clock,
      RetryPolicy.Operation operation,
      boolean changes,
      long deadlineNanos) {
    this.policy = policy;
    this.clock = clock;
    this.operation = operation;
    this.changes = changes;
    this.startNanos = clock.nanos();
    this.deadlineNanos = deadlineNanos;
  }

  /** The number of the attempt under way, from 1. */
  public int attempt() {
    return attempt;
  }

  public long sinceFirstMillis() {
    return (clock.nanos() - startNanos) / 1_000_000;
  }

  public long deadlineNanos() {
    return deadlineNanos;
  }

  public long leftNanos() {
    return deadlineNanos - clock.nanos();
  }

  /**
   * The end of one attempt that begins now: after {@code timeoutNanos}, at the latest the deadline.
   * After BUSY the end of the attempt before is kept as long as it can be, so that servers, which
   * take the call with the earliest deadline first, prefer who waits for longest.
   */
  public long attemptDeadlineNanos(long timeoutNanos) {
    long now = clock.nanos();
    if (!keepsEnd || attemptEndNanos - now <= timeoutNanos / KEPT_SHARE) {
      long end = now + timeoutNanos;
      attemptEndNanos = end - deadlineNanos < 0 ? end : deadlineNanos;
      keepsEnd = false;
    }
    return attemptEndNanos;
  }

  /** Whether an attempt of this change may have been done. */
  public boolean isOutcomeUnknown() {
    return changes && outcomeUnknown;
  }

  /** Why the attempt before this one failed; null at the first. */
  public @Nullable AttemptException lastFailure() {
    return lastFailure;
  }

  /**
   * Takes note of the failure of an attempt.
   *
   * @return how long to wait before the next, in nanoseconds
   * @throws SteleException if there is to be no other
   */
  public long failed(AttemptException failure) {
    AttemptException before = lastFailure;
    lastFailure = failure;
    outcomeUnknown |= failure.isOutcomeUnknown();
    keepsEnd = failure.code() == ErrorCode.BUSY;
    if (!failure.isRetryable()) {
      throw end(failure, failure.code(), "");
    }
    long left = leftNanos();
    if (left <= policy.shortestWaitNanos()) { // no time to wait and to try again
      throw end(
          failure,
          ErrorCode.DEADLINE_EXCEEDED,
          ", and the deadline is over" + otherCause(before, failure));
    }
    if (TimeUnit.MILLISECONDS.toNanos(failure.retryAfterMillis())
        >= left - policy.shortestWaitNanos()) {
      throw end(
          failure,
          failure.code(),
          ", and the deadline is over before the "
              + failure.retryAfterMillis()
              + " ms that it proposes to wait");
    }
    if (!policy.mayRetry()) {
      throw end(failure, ErrorCode.BUSY, ", and the retry budget of this client is spent");
    }
    return policy.waitNanos(attempt++ - 1, failure.retryAfterMillis(), left);
  }

  /** Another attempt at once, without wait and budget: the failure has shown the way. */
  public void again(AttemptException failure) {
    lastFailure = failure;
    outcomeUnknown |= failure.isOutcomeUnknown();
    attempt++;
  }

  /**
   * The last attempt may have failed only because its time was short; then the one before tells why
   * there was no success.
   */
  private static String otherCause(@Nullable AttemptException before, AttemptException last) {
    if (before == null
        || before.server().equals(last.server())
            && String.valueOf(before.getMessage()).equals(last.getMessage())) {
      return "";
    }
    return "; the attempt before at server " + before.server() + ": " + before.getMessage();
  }

  private SteleException end(AttemptException failure, ErrorCode code, String why) {
    SteleException reply = failure.reply();
    ErrorCode shown = isOutcomeUnknown() ? ErrorCode.UNKNOWN_OUTCOME : code;
    String message =
        operation.describe()
            + " failed at server "
            + failure.server()
            + " after "
            + attempt
            + (attempt == 1 ? " attempt" : " attempts")
            + " in "
            + sinceFirstMillis()
            + " ms: "
            + failure.getMessage()
            + why;
    return new SteleException(
        shown,
        message,
        failure,
        shown == ErrorCode.BUSY ? failure.retryAfterMillis() : 0,
        reply == null ? null : reply.file(),
        reply == null ? 0 : reply.offset());
  }
}
