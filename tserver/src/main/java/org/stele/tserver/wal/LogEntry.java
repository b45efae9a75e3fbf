package org.stele.tserver.wal;

import org.stele.core.data.ByteWriter;
import org.stele.core.data.Durability;
import org.stele.core.data.WriterStamp;

/**
 * One record on its way through the write-ahead log: the changes of one tablet in one request. The
 * log calls, in this order: {@link #place} and {@link #encode} on the thread {@code wal-sync}, then
 * exactly one of {@link #committed}, {@link #failed} and {@link #refused} on the thread {@code
 * wal-apply}. Entries are placed, and committed, in one order; none of the methods may block or
 * throw.
 */
public interface LogEntry {
  /** In place of a {@link #serverTime()}: no cell has one; earlier than all times. */
  long NO_TIME = Long.MIN_VALUE;

  /** About the bytes of the record, for bounds; known before it is placed, and never changes. */
  int sizeHint();

  Durability durability();

  /**
   * The moment at which the entry gets its sequence, after which its order is fixed. The entry
   * checks what must hold at that moment (deadline, tablet still taking writes) and assigns
   * sequence and timestamps.
   *
   * @return false if the entry is not to be logged: it has answered its caller itself and hears no
   *     more from the log
   */
  boolean place();

  /** The tablet and the sequences of the record; valid after {@link #place}. */
  long epoch();

  String tabletId();

  long firstSequence();

  /** The sequence of the last cell: there are as many cells as sequences. */
  long lastSequence();

  /** Which write of which writer this is, for recognising repeated ones. */
  default WriterStamp writer() {
    return WriterStamp.NONE;
  }

  /**
   * The time that the server gave to the cells that came without one, in milliseconds since 1970;
   * {@link #NO_TIME}: all cells came with their own. Valid after {@link #place}.
   */
  default long serverTime() {
    return NO_TIME;
  }

  /**
   * Appends the payload: each cell by {@link LogCells#write}. Not called with {@link
   * Durability#NONE}.
   */
  void encode(ByteWriter out);

  /**
   * The record is as durable as asked, and so are all records before it: apply, publish, answer.
   */
  void committed();

  /**
   * The record may or may not be in the log, but nothing of it will be visible while this server
   * lives: the outcome is unknown.
   *
   * @param cause a {@link org.stele.core.error.SteleException} with {@code UNKNOWN_OUTCOME} that
   *     names the file
   */
  void failed(Exception cause);

  /**
   * The record is not in the log: nothing happened. The log is broken or closed, or the entry
   * itself could not be placed or encoded. Comes on the thread that calls {@link
   * WriteAheadLog#append}, before that returns, if the log is broken or closed already.
   *
   * @param cause a {@link org.stele.core.error.SteleException} with {@code UNAVAILABLE} or {@code
   *     INTERNAL}
   */
  default void refused(Exception cause) {
    failed(cause);
  }
}
