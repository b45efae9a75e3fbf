package org.stele.tserver.scan;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.CellCursor;
import org.stele.core.data.KeyCodec;
import org.stele.core.time.Clock;
import org.stele.tserver.read.ResumeKey;

/**
 * The source of a scan, which ends at the end of a row when the time of the batch is over: sooner
 * if others wait. So a batch ends in time also where all cells are hidden, and has got further than
 * the one before. One thread at a time.
 */
final class TimedCursor implements CellCursor {
  /** Moves between two looks at the clock. */
  private static final int MOVES_PER_LOOK = 64;

  private final CellCursor source;
  private final Clock clock;
  private final long endNanos;
  private final long hurriedEndNanos;
  private final BooleanSupplier othersWait;
  private int moves;
  private boolean ended;

  /** The row the source was in when the time was over, with its end; null before. */
  private byte @Nullable [] lateRow;

  /**
   * @param hurriedEndNanos the end while others wait
   */
  TimedCursor(
      CellCursor source,
      Clock clock,
      long endNanos,
      long hurriedEndNanos,
      BooleanSupplier othersWait) {
    this.source = source;
    this.clock = clock;
    this.endNanos = endNanos;
    this.hurriedEndNanos = hurriedEndNanos;
    this.othersWait = othersWait;
  }

  /** Whether the time of the batch is over. */
  boolean isLate() {
    return lateRow != null;
  }

  /** Where the next batch goes on if this cursor ended because of the time; else null. */
  byte @Nullable [] resumeKey() {
    byte[] row = lateRow;
    return ended && row != null ? ResumeKey.afterRow(row, row.length) : null;
  }

  @Override
  public void seek(byte[] key) throws IOException {
    source.seek(key);
    look();
  }

  @Override
  public void next() throws IOException {
    source.next();
    look();
  }

  private void look() {
    byte[] row = lateRow;
    if (row != null) {
      ended = ended || (source.isValid() && !isInRow(row));
    } else if (++moves % MOVES_PER_LOOK == 0 && source.isValid() && isOver(clock.nanos())) {
      int offset = source.keyOffset();
      int length = KeyCodec.partLength(source.keyArray(), offset, offset + source.keyLength());
      lateRow = Arrays.copyOfRange(source.keyArray(), offset, offset + length);
    }
  }

  private boolean isOver(long now) {
    return now - endNanos >= 0 || now - hurriedEndNanos >= 0 && othersWait.getAsBoolean();
  }

  /** The last byte of a row's end tells deletes of the row from its cells. */
  private boolean isInRow(byte[] row) {
    int length = row.length - 1;
    int offset = source.keyOffset();
    return source.keyLength() > length
        && source.keyArray()[offset + length] != (byte) 0xff
        && Arrays.equals(row, 0, length, source.keyArray(), offset, offset + length);
  }

  @Override
  public boolean isValid() {
    return !ended && source.isValid();
  }

  @Override
  public void seekBefore(byte[] key) throws IOException {
    source.seekBefore(key);
  }

  @Override
  public void stopBefore(byte @Nullable [] key) {
    source.stopBefore(key);
  }

  @Override
  public byte[] keyArray() {
    return source.keyArray();
  }

  @Override
  public int keyOffset() {
    return source.keyOffset();
  }

  @Override
  public int keyLength() {
    return source.keyLength();
  }

  @Override
  public byte[] valueArray() {
    return source.valueArray();
  }

  @Override
  public int valueOffset() {
    return source.valueOffset();
  }

  @Override
  public int valueLength() {
    return source.valueLength();
  }

  @Override
  public void close() {
    source.close();
  }
}
