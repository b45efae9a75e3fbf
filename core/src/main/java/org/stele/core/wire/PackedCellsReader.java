package org.stele.core.wire;

import java.util.Arrays;
import java.util.List;
import org.stele.core.data.ByteReader;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.MalformedBytesException;

/**
 * Decodes cells in the form of {@link PackedCells}; reused. Cells of one row, family or visibility
 * share its bytes, also with those of the call before, so that little is made but what is new. Not
 * thread-safe.
 */
public final class PackedCellsReader {
  /** Parts of more bytes are not remembered from call to call. */
  private static final int MAX_REMEMBERED_BYTES = 256;

  /** An array of more cells is not kept. */
  private static final int MAX_KEPT_CELLS = 1024;

  private final ByteReader in = new ByteReader();

  /** Of the cell read last. */
  private final Bytes[] parts = new Bytes[PackedCells.PARTS];

  /** What each part was last when it was not like that of the cell before. */
  private final Bytes[] remembered = new Bytes[PackedCells.PARTS];

  private Cell[] cells = new Cell[16];

  public PackedCellsReader() {
    Arrays.fill(remembered, Bytes.EMPTY);
  }

  /** The cells that are read next are likely of this row. */
  public PackedCellsReader expectRow(Bytes row) {
    remembered[0] = row;
    return this;
  }

  /**
   * All cells, in order; immutable.
   *
   * @throws MalformedBytesException if the bytes are not packed cells
   */
  public List<Cell> read(byte[] packed, int offset, int length) {
    in.reset(packed, offset, length);
    int version = in.readUnsignedByte();
    if (version != PackedCells.VERSION) {
      throw new MalformedBytesException(
          "packed cells of version " + version + ", known is " + PackedCells.VERSION);
    }
    Arrays.fill(parts, Bytes.EMPTY);
    long timestamp = 0;
    int count = 0;
    try {
      while (in.hasRemaining()) {
        int flags = in.readUnsignedByte();
        if (flags >= PackedCells.SAME_TIMESTAMP << 1) {
          throw new MalformedBytesException("unknown flags " + flags + " of a packed cell");
        }
        for (int i = 0; i < PackedCells.PARTS; i++) {
          if ((flags & 1 << i) == 0) {
            readPart(i);
          }
        }
        if ((flags & PackedCells.SAME_TIMESTAMP) == 0) {
          long zigzag = in.readVarlong();
          timestamp += zigzag >>> 1 ^ -(zigzag & 1);
        }
        if (count == cells.length) {
          cells = Arrays.copyOf(cells, 2 * count);
        }
        cells[count++] =
            new Cell(
                parts[0], parts[1], parts[2], parts[3], timestamp, Bytes.wrap(in.readByteString()));
      }
      return List.of(Arrays.copyOf(cells, count));
    } finally {
      forget(count);
    }
  }

  private void readPart(int index) {
    Bytes before = parts[index];
    int shared = in.readVarint();
    if (shared > before.length()) {
      throw new MalformedBytesException(
          "a part shares " + shared + " bytes with one of " + before.length());
    }
    int rest = in.readLength();
    parts[index] = part(index, before, shared, rest);
    in.skip(rest);
  }

  private Bytes part(int index, Bytes before, int shared, int rest) {
    byte[] source = in.array();
    int from = in.position();
    Bytes known = remembered[index];
    if (shared == 0
        && known.length() == rest
        && Arrays.equals(known.unsafeArray(), 0, rest, source, from, from + rest)) {
      return known;
    }
    byte[] bytes = new byte[shared + rest];
    System.arraycopy(before.unsafeArray(), 0, bytes, 0, shared);
    System.arraycopy(source, from, bytes, shared, rest);
    Bytes part = Bytes.wrap(bytes);
    if (bytes.length <= MAX_REMEMBERED_BYTES) {
      remembered[index] = part;
    }
    return part;
  }

  private void forget(int count) {
    if (cells.length > MAX_KEPT_CELLS) {
      cells = new Cell[16];
    } else {
      Arrays.fill(cells, 0, count, null);
    }
    Arrays.fill(parts, Bytes.EMPTY);
  }
}
