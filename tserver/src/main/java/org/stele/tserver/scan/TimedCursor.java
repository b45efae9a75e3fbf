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
 * The source of a scan, which ends at the end of a column when the time of the batch is over:
 * sooner if others wait. So a batch ends in time also where all cells are hidden, be it within one
 * large row, and has got further than the one before. One thread at a time.
 */
final class TimedCursor implements CellCursor {
  /** Moves between two looks at the clock. */
  private static final int MOVES_PER_LOOK = 64;

  private final CellCursor source;
  private final byte[] from;
  private final Clock clock;
  private final long endNanos;
  private final long hurriedEndNanos;
  private final BooleanSupplier othersWait;
  private int moves;

  /** The parts of the key that the source stands on since the time was over; null before. */
  private byte @Nullable [] lateColumn;

  /** The first key that the batch does not look at; null until this has ended. */
  private byte @Nullable [] end;

  private boolean withinRow;

  /**
   * @param from where the batch begins; it ends behind that, wherever the source is taken meanwhile
   * @param hurriedEndNanos the end while others wait
   */
  TimedCursor(
      CellCursor source,
      byte[] from,
      Clock clock,
      long endNanos,
      long hurriedEndNanos,
      BooleanSupplier othersWait) {
    this.source = source;
    this.from = from;
    this.clock = clock;
    this.endNanos = endNanos;
    this.hurriedEndNanos = hurriedEndNanos;
    this.othersWait = othersWait;
  }

  /** Whether the time of the batch is over. */
  boolean isLate() {
    return lateColumn != null;
  }

  /** The first key that was not looked at, if this has ended because of the time; else null. */
  byte @Nullable [] end() {
    return end;
  }

  /** Whether what was looked at last is of the row of {@link #end}. */
  boolean endsWithinRow() {
    return withinRow;
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
    if (end != null || !source.isValid()) {
      return;
    }
    byte[] column = lateColumn;
    if (column == null) {
      if (++moves % MOVES_PER_LOOK == 0 && isOver(clock.nanos())) {
        lateColumn = column();
      }
    } else if (!isIn(column)) {
      if (isBehindStart()) {
        end = ResumeKey.at(source.keyArray(), source.keyOffset(), source.keyLength());
        withinRow = ResumeKey.areOfOneRow(column, end);
      } else {
        lateColumn = column();
      }
    }
  }

  private boolean isOver(long now) {
    return now - endNanos >= 0 || now - hurriedEndNanos >= 0 && othersWait.getAsBoolean();
  }

  private byte[] column() {
    int length = source.keyLength() - KeyCodec.TRAILER_LENGTH;
    return ResumeKey.at(source.keyArray(), source.keyOffset(), length);
  }

  private boolean isIn(byte[] column) {
    int offset = source.keyOffset();
    return source.keyLength() == column.length + KeyCodec.TRAILER_LENGTH
        && Arrays.equals(
            column, 0, column.length, source.keyArray(), offset, offset + column.length);
  }

  /** Before it are the deletes that are in force at the start, which are looked at first. */
  private boolean isBehindStart() {
    int offset = source.keyOffset();
    return Arrays.compareUnsigned(
            source.keyArray(), offset, offset + source.keyLength(), from, 0, from.length)
        > 0;
  }

  @Override
  public boolean isValid() {
    return end == null && source.isValid();
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
