package org.stele.tserver.scan;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.VersionCursor;
import org.stele.core.data.KeyCodec;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.tserver.read.ResumeKey;

/**
 * Fills one batch from a cursor, up to its limits. A limit that is reached within a row takes the
 * row's cells back, so that the batch ends where the row begins; but if the batch has only this
 * row, or has come to nothing but hidden cells before it, the row is cut, and {@link #rowContinues}
 * says so. Used once, by one thread.
 */
final class ScanBatch {
  private final PackedCellsWriter packed;
  private final int maxRows;
  private final int maxCells;
  private final boolean plain;
  private final int maxBytes;

  private int rows;

  // The row being read: its encoded part, and what the batch had before it.
  private byte[] row = new byte[64];
  private int rowLength;
  private int lengthBeforeRow;
  private int cellsBeforeRow;

  // The key of the last cell taken.
  private byte[] last = new byte[128];
  private int lastLength;

  private boolean atEnd;
  private boolean rowContinues;
  private byte @Nullable [] position;

  /** Limits of 0 are none. */
  ScanBatch(PackedCellsWriter packed, int maxRows, int maxCells, boolean plain, int maxBytes) {
    this.packed = packed;
    this.maxRows = maxRows;
    this.maxCells = maxCells;
    this.plain = plain;
    this.maxBytes = maxBytes;
  }

  boolean atEnd() {
    return atEnd;
  }

  boolean rowContinues() {
    return rowContinues;
  }

  byte @Nullable [] position() {
    return position;
  }

  /**
   * Takes cells from where the cursor stands.
   *
   * @param source of {@code cells}, which ends it when the time is over
   * @param upper the batch's range ends before this key; null: open
   */
  void fill(VersionCursor cells, TimedCursor source, byte @Nullable [] upper) throws IOException {
    while (cells.isValid() && !isAtUpper(cells, upper)) {
      boolean newRow = isNewRow(cells);
      if (newRow && packed.cells() > 0 && (isRowLimit() || isLimit(cells, source))) {
        position = ResumeKey.afterRow(row, rowLength);
        return;
      }
      if (newRow) {
        beginRow(cells);
      } else if (isLimit(cells, source)) {
        endWithinRow();
        return;
      }
      take(cells);
      cells.next();
    }
    byte[] end = cells.isValid() ? null : source.end();
    if (end == null || upper != null && Arrays.compareUnsigned(end, upper) >= 0) {
      atEnd = true;
    } else {
      endAt(end, source.endsWithinRow());
    }
  }

  /** The time is over: the batch ends before this key, or before its row if it has others. */
  private void endAt(byte[] end, boolean withinRow) {
    boolean isOfLastRow = rowLength > 0 && ResumeKey.isOfRow(row, rowLength, end);
    int cellsBefore = isOfLastRow ? cellsBeforeRow : packed.cells();
    if (withinRow && cellsBefore == 0) {
      position = end;
      rowContinues = true;
      return;
    }
    if (isOfLastRow) {
      packed.truncate(lengthBeforeRow, cellsBeforeRow);
    }
    position = ResumeKey.beforeRow(end, KeyCodec.partLength(end, 0, end.length));
  }

  private static boolean isAtUpper(VersionCursor cells, byte @Nullable [] upper) {
    return upper != null
        && Arrays.compareUnsigned(
                cells.keyArray(),
                cells.keyOffset(),
                cells.keyOffset() + cells.keyLength(),
                upper,
                0,
                upper.length)
            >= 0;
  }

  private boolean isNewRow(VersionCursor cells) {
    int offset = cells.keyOffset();
    return cells.keyLength() < rowLength
        || rowLength == 0
        || !Arrays.equals(row, 0, rowLength, cells.keyArray(), offset, offset + rowLength);
  }

  private boolean isRowLimit() {
    return maxRows > 0 && rows >= maxRows;
  }

  /** Whether the cell the cursor stands on is too much for the batch. */
  private boolean isLimit(VersionCursor cells, TimedCursor source) {
    return (maxCells > 0 && packed.cells() >= maxCells)
        || length() + cells.keyLength() + cells.valueLength() > maxBytes
        || source.isLate();
  }

  private long length() {
    return plain ? packed.plainLength() : packed.length();
  }

  private void beginRow(VersionCursor cells) {
    int offset = cells.keyOffset();
    rowLength = KeyCodec.partLength(cells.keyArray(), offset, offset + cells.keyLength());
    if (rowLength > row.length) {
      row = new byte[2 * rowLength];
    }
    System.arraycopy(cells.keyArray(), offset, row, 0, rowLength);
    lengthBeforeRow = packed.length();
    cellsBeforeRow = packed.cells();
    rows++;
  }

  private void take(VersionCursor cells) {
    byte[] key = cells.keyArray();
    int offset = cells.keyOffset();
    int length = cells.keyLength();
    packed.add(key, offset, length, cells.valueArray(), cells.valueOffset(), cells.valueLength());
    if (length > last.length) {
      last = new byte[2 * length];
    }
    System.arraycopy(key, offset, last, 0, length);
    lastLength = length;
  }

  private void endWithinRow() {
    if (cellsBeforeRow > 0) {
      packed.truncate(lengthBeforeRow, cellsBeforeRow);
      position = ResumeKey.beforeRow(row, rowLength);
    } else {
      position = ResumeKey.after(last, 0, lastLength);
      rowContinues = true;
    }
  }
}
