package org.stele.client;

import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * The thread was interrupted while it waited for an operation; its interrupt status is set. The
 * code is UNKNOWN_OUTCOME if the operation is a change that may have been done, else UNAVAILABLE.
 * Other threads and later operations are not affected.
 */
public final class OperationInterruptedException extends SteleException {
  private static final long serialVersionUID = 1L;

  OperationInterruptedException(
      boolean outcomeUnknown, String operation, @Nullable Throwable cause) {
    super(
        outcomeUnknown ? ErrorCode.UNKNOWN_OUTCOME : ErrorCode.UNAVAILABLE,
        operation + " was interrupted",
        cause);
  }
}
