package org.stele.server.metadata;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.MalformedBytesException;

/**
 * A sorted file as a tablet's row names it. The value of its column:
 *
 * <pre>
 *   value = version (1 byte, 01) size (varint) entries (varint) first sequence (8) last sequence (8)
 *           previous end row  end row
 *   row   = 00 | 01 length (varint) bytes
 * </pre>
 *
 * @param size of the file, in bytes
 * @param entries cells in it
 * @param firstSequence lowest sequence that may be in it
 * @param lastSequence highest sequence that may be in it
 * @param previousEndRow rows up to and with it do not count; null: open
 * @param endRow rows above it do not count; null: open
 */
public record FileRecord(
    String fileId,
    long size,
    long entries,
    long firstSequence,
    long lastSequence,
    @Nullable Bytes previousEndRow,
    @Nullable Bytes endRow) {
  private static final int VERSION = 1;

  Bytes encode() {
    ByteWriter out = new ByteWriter(64);
    out.writeByte(VERSION).writeVarlong(size).writeVarlong(entries);
    out.writeLong(firstSequence).writeLong(lastSequence);
    writeRow(out, previousEndRow);
    writeRow(out, endRow);
    return Bytes.wrap(out.toByteArray());
  }

  static FileRecord decode(String fileId, Bytes value) {
    ByteReader in = new ByteReader(value.unsafeArray(), 0, value.length());
    int version = in.readUnsignedByte();
    if (version != VERSION) {
      throw new MalformedBytesException(
          "the reference to file " + fileId + " has version " + version + ", known is " + VERSION);
    }
    return new FileRecord(
        fileId,
        in.readVarlong(),
        in.readVarlong(),
        in.readLong(),
        in.readLong(),
        readRow(in),
        readRow(in));
  }

  private static void writeRow(ByteWriter out, @Nullable Bytes row) {
    if (row == null) {
      out.writeByte(0);
    } else {
      out.writeByte(1).writeByteString(row.unsafeArray());
    }
  }

  private static @Nullable Bytes readRow(ByteReader in) {
    return in.readUnsignedByte() == 0 ? null : Bytes.wrap(in.readByteString());
  }
}
