package org.stele.tserver.service;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/** What the failure of something done on another thread means to the caller. */
final class Failures {
  private Failures() {}

  static SteleException typed(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof SteleException typed
        ? typed
        : new SteleException(ErrorCode.INTERNAL, String.valueOf(cause.getMessage()), cause);
  }
}
