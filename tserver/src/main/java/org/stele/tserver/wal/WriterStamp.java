package org.stele.tserver.wal;

/**
 * Names one write of one writer, carried by log records so that a write that is sent twice can be
 * recognised.
 *
 * @param writerId random per writer; 0 if the writer asks for no such protection
 * @param number counts the writer's writes
 * @param lowestUnresolved the lowest number of which the writer does not know the outcome
 */
public record WriterStamp(long writerId, long number, long lowestUnresolved) {
  public static final WriterStamp NONE = new WriterStamp(0, 0, 0);

  public boolean isNone() {
    return writerId == 0 && number == 0 && lowestUnresolved == 0;
  }
}
