package org.stele.tserver.wal;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;

/**
 * The last bytes of a log that was closed properly; only zeros may follow.
 *
 * @param indexPosition where the group with the index begins, which is where the records end
 */
record LogTrailer(long indexPosition) {
  private static final int POSITION_OFFSET = 8;
  private static final int CHECKSUM_OFFSET = POSITION_OFFSET + 8;
  private static final int MAGIC_OFFSET = CHECKSUM_OFFSET + 4;
  static final int LENGTH = MAGIC_OFFSET + 4;

  /** "SEND": its last byte is not zero, so that the end is found below preallocated zeros. */
  private static final int MAGIC = 0x5345_4e44;

  void write(ByteWriter out, long position, LogChecksum checksum) {
    int begin = out.length();
    out.writeLong(indexPosition).writeLong(position);
    out.writeInt(checksum.of(position, out.array(), begin, CHECKSUM_OFFSET));
    out.writeInt(MAGIC);
  }

  static @Nullable LogTrailer parse(byte[] array, int offset, long position, LogChecksum checksum) {
    ByteReader in = new ByteReader(array, offset, LENGTH);
    LogTrailer trailer = new LogTrailer(in.readLong());
    boolean valid =
        in.readLong() == position
            && in.readInt() == checksum.of(position, array, offset, CHECKSUM_OFFSET)
            && in.readInt() == MAGIC
            && trailer.indexPosition > 0
            && trailer.indexPosition <= position - GroupHeader.LENGTH - 4;
    return valid ? trailer : null;
  }
}
