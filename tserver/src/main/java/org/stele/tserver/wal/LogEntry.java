package org.stele.tserver.wal;

import org.stele.core.data.ByteWriter;
import org.stele.core.data.Durability;

/**
 * One record on its way through the write-ahead log: the changes of one tablet in one request. The
 * log calls, in this order: {@link #place} and {@link #encode} on the thread {@code wal-sync}, then
 * either {@link #committed} or {@link #failed} on the thread {@code wal-apply}. Entries are placed,
 * and committed, in one order; none of the methods may block.
 */
public interface LogEntry {
  /** About the bytes of the record, for bounds; known before it is placed. */
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

  long lastSequence();

  /** Appends the payload: packed cells of the log (docs/formats/write-ahead-log.md). */
  void encode(ByteWriter out);

  /**
   * The record is as durable as asked, and so are all records before it: apply, publish, answer.
   */
  void committed();

  /**
   * The record may or may not be in the log; nothing of it is visible, and the log is closed for
   * ever.
   */
  void failed(Exception cause);
}
