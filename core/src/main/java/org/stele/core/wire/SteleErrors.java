package org.stele.core.wire;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.SteleError;

/** Errors as the code throws them, and as they travel. */
public final class SteleErrors {
  private static final ErrorCode[] BY_NUMBER = byNumber();

  private SteleErrors() {}

  /** Without cause and stack trace, which are the server's own. */
  public static SteleError toThrift(SteleException exception) {
    String message = exception.getMessage();
    SteleError error = new SteleError();
    error.setCode(toThrift(exception.code()));
    error.setMessage(message == null ? exception.code().name() : message);
    if (exception.code() == ErrorCode.BUSY) {
      error.setRetryAfterMs(exception.retryAfterMillis());
    }
    String file = exception.file();
    if (file != null) {
      error.setFile(file);
      error.setOffset(exception.offset());
    }
    return error;
  }

  /** A code that this release does not know is INTERNAL. */
  public static SteleException fromThrift(SteleError error) {
    return new SteleException(
        fromThrift(error.getCode()),
        String.valueOf(error.getMessage()),
        null,
        error.getRetryAfterMs(),
        error.getFile(),
        error.getOffset());
  }

  public static org.stele.core.thrift.ErrorCode toThrift(ErrorCode code) {
    org.stele.core.thrift.ErrorCode thrift =
        org.stele.core.thrift.ErrorCode.findByValue(code.number());
    if (thrift == null) {
      throw new IllegalStateException("the IDL has no error code " + code);
    }
    return thrift;
  }

  private static ErrorCode fromThrift(org.stele.core.thrift.@Nullable ErrorCode code) {
    return code == null ? ErrorCode.INTERNAL : fromNumber(code.getValue());
  }

  /** The code with that number on the wire; INTERNAL if this release does not know it. */
  public static ErrorCode fromNumber(int number) {
    if (number < 0 || number >= BY_NUMBER.length) {
      return ErrorCode.INTERNAL;
    }
    return BY_NUMBER[number];
  }

  private static ErrorCode[] byNumber() {
    ErrorCode[] all = ErrorCode.values();
    int most = 0;
    for (ErrorCode code : all) {
      most = Math.max(most, code.number());
    }
    ErrorCode[] table = new ErrorCode[most + 1];
    Arrays.fill(table, ErrorCode.INTERNAL);
    for (ErrorCode code : all) {
      table[code.number()] = code;
    }
    return table;
  }
}
