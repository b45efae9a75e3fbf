package org.stele.core.wire;

import java.util.ArrayList;
import java.util.List;
import org.stele.core.data.ByteReader;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.MalformedBytesException;

/**
 * Decodes cells that travelled as one byte string (docs/formats/wire.md has a worked example):
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
    ByteReader in = new ByteReader(packed, offset, length);
    int version = in.readUnsignedByte();
    if (version != VERSION) {
      throw new MalformedBytesException(
          "packed cells of version " + version + ", known is " + VERSION);
    }
    List<Cell> cells = new ArrayList<>();
    Bytes[] parts = {Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY};
    long timestamp = 0;
    while (in.hasRemaining()) {
      int flags = in.readUnsignedByte();
      if (flags >= SAME_TIMESTAMP << 1) {
        throw new MalformedBytesException("unknown flags " + flags + " of a packed cell");
      }
      for (int i = 0; i < PARTS; i++) {
        if ((flags & 1 << i) == 0) {
          parts[i] = readPart(in, parts[i]);
        }
      }
      if ((flags & SAME_TIMESTAMP) == 0) {
        long zigzag = in.readVarlong();
        timestamp += zigzag >>> 1 ^ -(zigzag & 1);
      }
      cells.add(
          new Cell(
              parts[0], parts[1], parts[2], parts[3], timestamp, Bytes.wrap(in.readByteString())));
    }
    return cells;
  }

  private static Bytes readPart(ByteReader in, Bytes before) {
    int shared = in.readVarint();
    if (shared > before.length()) {
      throw new MalformedBytesException(
          "a part shares " + shared + " bytes with one of " + before.length());
    }
    int rest = in.readLength();
    byte[] part = new byte[shared + rest];
    System.arraycopy(before.unsafeArray(), 0, part, 0, shared);
    System.arraycopy(in.array(), in.position(), part, shared, rest);
    in.skip(rest);
    return Bytes.wrap(part);
  }
}
