package org.stele.core.wire;

import java.util.List;
import org.stele.core.data.Cell;
import org.stele.core.data.MalformedBytesException;

/**
 * Cells that travel as one byte string (docs/formats/wire.md has a worked example):
 *
 * <pre>
 *   packed cells = version (1 byte, 01) cell*
 *   cell         = flags (1) [part] [part] [part] [part] [timestamp] value
 *   flags        = bits 0-4 set: row, family, qualifier, visibility, timestamp are those of the cell before
 *   part         = shared (varint) length (varint) bytes: the first {@code shared} bytes of the same part of the
 *                  cell before (at first: empty), then {@code length} more
 *   timestamp    = zigzag varint: difference to the timestamp of the cell before (at first: 0)
 *   value        = length (varint) bytes
 * </pre>
 */
public final class PackedCells {
  static final int VERSION = 1;
  static final int PARTS = 4;
  static final int SAME_TIMESTAMP = 1 << PARTS;

  private PackedCells() {}

  /**
   * All cells, in order.
   *
   * @throws MalformedBytesException if the bytes are not packed cells
   */
  public static List<Cell> decode(byte[] packed, int offset, int length) {
    return new PackedCellsReader().read(packed, offset, length);
  }
}
