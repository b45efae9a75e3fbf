package org.stele.tserver.read;

import java.io.IOException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CorruptFileException;
import org.stele.tserver.tablet.Tablet;

/** Says what a failed read of files means for the caller. */
public final class ReadFailures {
  private ReadFailures() {}

  /** CORRUPT with file and offset for damage, UNAVAILABLE for everything else. */
  public static SteleException of(Tablet tablet, IOException cause) {
    if (cause instanceof CorruptFileException corrupt) {
      return SteleException.corrupt(
          "tablet " + tablet.tabletId() + ": " + cause.getMessage(),
          cause,
          corrupt.file(),
          corrupt.offset());
    }
    return new SteleException(
        ErrorCode.UNAVAILABLE,
        "tablet " + tablet.tabletId() + " cannot read its files: " + cause.getMessage(),
        cause);
  }

  /** This server is no longer sure that it owns the tablet, so the view may be out of date. */
  public static SteleException leaseLost(Tablet tablet) {
    return new SteleException(
        ErrorCode.NOT_SERVING, "this server is no longer sure to own tablet " + tablet.tabletId());
  }
}
