package org.stele.tserver.lookup;

import org.jspecify.annotations.Nullable;
import org.stele.core.wire.PackedCellsWriter;

/**
 * The answer of a lookup. One per thread, valid until the thread's next lookup: what is to be kept
 * is copied or sent before.
 */
public final class LookupAnswer {
  /** A buffer that a large answer has made larger than this is not kept for the next one. */
  private static final int KEPT_BUFFER_BYTES = 256 << 10;

  PackedCellsWriter cells = new PackedCellsWriter();
  long readSequence;
  byte @Nullable [] position;

  LookupAnswer() {}

  void clear() {
    if (cells.array().length > KEPT_BUFFER_BYTES) {
      cells = new PackedCellsWriter();
    }
    cells.clear();
    readSequence = 0;
    position = null;
  }

  /** The packed cells: {@code array()} up to {@code length()}. */
  public PackedCellsWriter cells() {
    return cells;
  }

  /** Whether the row is larger than the answer: a scan goes on at {@link #position}. */
  public boolean more() {
    return position != null;
  }

  /** Where a scan finds the rest of the row, if there is one. */
  public byte @Nullable [] position() {
    return position;
  }

  /** The sequence up to which the row was read. */
  public long readSequence() {
    return readSequence;
  }
}
