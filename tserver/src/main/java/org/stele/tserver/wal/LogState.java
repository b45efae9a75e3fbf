package org.stele.tserver.wal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * Whether a log takes entries: it does until it is closed or broken, and neither is ever undone.
 * Thread-safe.
 */
final class LogState {
  private static final Logger LOG = LoggerFactory.getLogger(LogState.class);

  private final String directory;
  private final Consumer<Exception> onBroken;
  private final Doorbell syncBell;
  private final AtomicReference<@Nullable Exception> broken = new AtomicReference<>();
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * @param directory of the log
   * @param onBroken called once, when the log breaks
   * @param syncBell rung when the log breaks
   */
  LogState(String directory, Consumer<Exception> onBroken, Doorbell syncBell) {
    this.directory = directory;
    this.onBroken = onBroken;
    this.syncBell = syncBell;
  }

  /** The end of the log: everything that waits or comes is refused. */
  void breakLog(Throwable cause) {
    Exception reason =
        cause instanceof Exception exception
            ? exception
            : new IllegalStateException("the write-ahead log stopped", cause);
    if (broken.compareAndSet(null, reason)) {
      LOG.error("{}: the write-ahead log is broken", directory, reason);
      try {
        onBroken.accept(reason);
      } finally {
        syncBell.ring();
      }
    }
  }

  /** Why it is broken; null if it is not. */
  @Nullable Exception broken() {
    return broken.get();
  }

  /** Closing begins. False: it had begun before. */
  boolean close() {
    return closing.compareAndSet(false, true);
  }

  boolean isClosing() {
    return closing.get();
  }

  /** What entries are refused with; null if they are taken. */
  @Nullable SteleException refusal() {
    Exception cause = broken.get();
    if (cause != null) {
      return brokenException(cause);
    }
    return closing.get() ? closedException() : null;
  }

  static SteleException closedException() {
    return new SteleException(ErrorCode.UNAVAILABLE, "the write-ahead log is closed");
  }

  SteleException brokenException(Exception cause) {
    return new SteleException(
        ErrorCode.UNAVAILABLE,
        directory + ": the write-ahead log is broken: " + cause.getMessage(),
        cause);
  }
}
