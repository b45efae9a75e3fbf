package org.stele.tserver.wal;

import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.WriterStamp;
import org.stele.core.file.CorruptFileException;

/**
 * A record as read from a log, its checksum verified. The payload lies in a buffer that the next
 * read overwrites.
 *
 * @param path the log, for messages
 * @param offset where the record lies in it
 * @param length bytes of the record in the log
 * @param serverTime what the server gave to cells without a time, in milliseconds since 1970;
 *     {@link LogEntry#NO_TIME}: nothing
 */
public record LogRecord(
    String path,
    long offset,
    int length,
    String tabletId,
    int epoch,
    long firstSequence,
    int cellCount,
    WriterStamp writer,
    long serverTime,
    Payload payload) {

  /** A part of an array. */
  @SuppressWarnings("ArrayRecordComponent") // a view, never compared
  record Payload(byte[] array, int offset, int length) {}

  public long lastSequence() {
    return firstSequence + cellCount - 1;
  }

  /**
   * Gives the cells with a sequence above {@code above} to {@code visitor}.
   *
   * @throws CorruptFileException if the payload is malformed
   */
  public void visitCells(long above, LogCells.Visitor visitor) throws CorruptFileException {
    try {
      LogCells.visit(
          payload.array,
          payload.offset,
          payload.length,
          firstSequence,
          cellCount,
          (sequence, array, keyOffset, keyLength, valueOffset, valueLength) -> {
            if (Long.compareUnsigned(sequence, above) > 0) {
              visitor.cell(sequence, array, keyOffset, keyLength, valueOffset, valueLength);
            }
          });
    } catch (MalformedBytesException e) {
      throw new CorruptFileException(path, offset, "malformed cells: " + e.getMessage());
    }
  }
}
