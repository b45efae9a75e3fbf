package org.stele.core.data;

/**
 * What must have happened to a write before it is visible and acknowledged; each is stronger than
 * those before it.
 */
public enum Durability {
  /** Nothing: it is not logged, and lost if the process ends before its tablet was flushed. */
  NONE,
  /**
   * It was written to the log's file, which may still keep it in the process: on a local disk this
   * is as {@link #FLUSH}, on HDFS it may be lost with the process.
   */
  LOG,
  /** It is with the operating system, or in the data nodes' memory: survives the process's end. */
  FLUSH,
  /** It is on the disk: survives the end of the machine. */
  SYNC;

  public Durability strongerOf(Durability other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
