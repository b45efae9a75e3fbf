package org.stele.core.data;

/**
 * Names one write of one writer, so that a write that is sent twice can be recognised. It travels
 * in the call header and is kept in the records of the log.
 *
 * @param writerId random per writer; 0 if the writer asks for no such protection
 * @param number counts the writer's writes
 * @param lowestUnresolved the lowest number of which the writer does not know the outcome
 */
public record WriterStamp(long writerId, long number, long lowestUnresolved) {
  /** That of a write that asks for no such protection. */
  public static final WriterStamp NONE = new WriterStamp(0, 0, 0);

  /** Whether all is 0, as in {@link #NONE}. */
  public boolean isNone() {
    return writerId == 0 && number == 0 && lowestUnresolved == 0;
  }
}
