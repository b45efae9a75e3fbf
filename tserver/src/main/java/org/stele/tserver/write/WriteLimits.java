package org.stele.tserver.write;

/**
 * Bounds of the writes that wait for memory or for the log.
 *
 * @param waitingWrites most tablet writes
 * @param waitingBytes most bytes of their keys and values
 */
public record WriteLimits(int waitingWrites, long waitingBytes) {
  public WriteLimits {
    if (waitingWrites <= 0 || waitingBytes <= 0) {
      throw new IllegalArgumentException(
          "limits of " + waitingWrites + " writes, " + waitingBytes + " bytes");
    }
  }
}
