package org.stele.core.wire;

import java.util.Arrays;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.KeyCodec;

/**
 * Encodes cells in the form of {@link PackedCells}, straight from encoded keys; reused by {@link
 * #clear()}. Not thread-safe.
 */
public final class PackedCellsWriter {
  /** What a cell's structure costs beside its bytes. */
  private static final int PLAIN_CELL_BYTES = 48;

  private final ByteWriter out = new ByteWriter(1024);
  private ByteWriter[] before = parts();
  private ByteWriter[] current = parts();
  private long timestamp;
  private int cells;
  private long plainBytes;

  public PackedCellsWriter() {
    clear();
  }

  private static ByteWriter[] parts() {
    ByteWriter[] parts = new ByteWriter[PackedCells.PARTS];
    Arrays.setAll(parts, i -> new ByteWriter(32));
    return parts;
  }

  public void clear() {
    out.clear();
    out.writeByte(PackedCells.VERSION);
    for (ByteWriter part : before) {
      part.clear();
    }
    timestamp = 0;
    cells = 0;
    plainBytes = 0;
  }

  /** Appends a cell given by its encoded key, which must be that of a put. */
  public void add(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    int at = keyOffset;
    int limit = keyOffset + keyLength - KeyCodec.TRAILER_LENGTH;
    int flags = 0;
    for (int i = 0; i < PackedCells.PARTS; i++) {
      int length = KeyCodec.partLength(key, at, limit);
      ByteWriter part = current[i];
      part.clear();
      KeyCodec.unescape(part, key, at, length - 2);
      if (cells > 0 && equal(part, before[i])) {
        flags |= 1 << i;
      }
      at += length;
    }
    long time = KeyCodec.timestamp(key, keyOffset, keyLength);
    if (cells > 0 && time == timestamp) {
      flags |= PackedCells.SAME_TIMESTAMP;
    }
    out.writeByte(flags);
    for (int i = 0; i < PackedCells.PARTS; i++) {
      if ((flags & 1 << i) == 0) {
        writePart(current[i], before[i]);
      }
    }
    if ((flags & PackedCells.SAME_TIMESTAMP) == 0) {
      long difference = time - timestamp;
      out.writeVarlong(difference << 1 ^ difference >> 63);
      timestamp = time;
    }
    out.writeByteString(value, valueOffset, valueLength);
    ByteWriter[] swap = before;
    before = current;
    current = swap;
    cells++;
    plainBytes += PLAIN_CELL_BYTES + keyLength + valueLength;
  }

  private void writePart(ByteWriter part, ByteWriter previous) {
    int shared =
        Arrays.mismatch(part.array(), 0, part.length(), previous.array(), 0, previous.length());
    if (shared < 0) {
      shared = part.length();
    }
    out.writeVarint(shared).writeByteString(part.array(), shared, part.length() - shared);
  }

  private static boolean equal(ByteWriter a, ByteWriter b) {
    return Arrays.equals(a.array(), 0, a.length(), b.array(), 0, b.length());
  }

  public int cells() {
    return cells;
  }

  /**
   * Takes cells back: only the first {@code keptCells} stay, which had {@code keptLength} bytes. No
   * cell may be added afterwards before {@link #clear()}.
   */
  public void truncate(int keptLength, int keptCells) {
    out.truncate(keptLength);
    cells = keptCells;
  }

  /**
   * About the bytes so far if the cells travelled as a list of structures, where nothing is shared:
   * that may be thousands of times more. It counts cells that were taken back, too.
   */
  public long plainLength() {
    return plainBytes;
  }

  /** Bytes so far. */
  public int length() {
    return out.length();
  }

  /** The array written to: valid up to {@link #length()}, until the next change. */
  public byte[] array() {
    return out.array();
  }
}
