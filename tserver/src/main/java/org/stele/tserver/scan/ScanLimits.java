package org.stele.tserver.scan;

/**
 * Limits of a batch that hold whatever a query asks for.
 *
 * @param bytes the most bytes of packed cells; one cell may exceed it
 * @param nanos a batch ends after this time
 */
public record ScanLimits(int bytes, long nanos) {
  public ScanLimits {
    if (bytes <= 0 || nanos <= 0) {
      throw new IllegalArgumentException("limits of " + bytes + " bytes, " + nanos + " ns");
    }
  }
}
