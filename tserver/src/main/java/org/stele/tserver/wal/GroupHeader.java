package org.stele.tserver.wal;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;

/**
 * What stands before each group of records.
 *
 * @param kind {@link #RECORDS} or {@link #INDEX}
 * @param bodyLength bytes behind this header that belong to the group
 * @param count records in the body; 0 for an index
 * @param position of this header in the file
 * @param syncedUpTo bytes of the file that were known to be on the disk before this was written
 * @param lowestLive number of the oldest log that is still needed: older ones may have been deleted
 */
record GroupHeader(
    int kind, int bodyLength, int count, long position, long syncedUpTo, long lowestLive) {
  /** First byte of a group; records begin with a smaller one (the top of their length). */
  static final int MARK = 0x47;

  static final int RECORDS = 1;
  static final int INDEX = 2;

  private static final int KIND_OFFSET = 1;
  private static final int RESERVED_OFFSET = KIND_OFFSET + 1;
  private static final int BODY_LENGTH_OFFSET = RESERVED_OFFSET + 2;
  private static final int COUNT_OFFSET = BODY_LENGTH_OFFSET + 4;
  private static final int POSITION_OFFSET = COUNT_OFFSET + 4;
  private static final int SYNCED_OFFSET = POSITION_OFFSET + 8;
  private static final int LOWEST_LIVE_OFFSET = SYNCED_OFFSET + 8;
  private static final int CHECKSUM_OFFSET = LOWEST_LIVE_OFFSET + 8;
  static final int LENGTH = CHECKSUM_OFFSET + 4;

  long bodyStart() {
    return position + LENGTH;
  }

  long end() {
    return position + LENGTH + bodyLength;
  }

  /** Writes itself over the {@link #LENGTH} bytes at {@code offset}. */
  void put(byte[] array, int offset, LogChecksum checksum) {
    array[offset] = MARK;
    array[offset + KIND_OFFSET] = (byte) kind;
    array[offset + RESERVED_OFFSET] = 0;
    array[offset + RESERVED_OFFSET + 1] = 0;
    ByteWriter.putInt(array, offset + BODY_LENGTH_OFFSET, bodyLength);
    ByteWriter.putInt(array, offset + COUNT_OFFSET, count);
    ByteWriter.putLong(array, offset + POSITION_OFFSET, position);
    ByteWriter.putLong(array, offset + SYNCED_OFFSET, syncedUpTo);
    ByteWriter.putLong(array, offset + LOWEST_LIVE_OFFSET, lowestLive);
    int crc = checksum.of(position, array, offset, CHECKSUM_OFFSET);
    ByteWriter.putInt(array, offset + CHECKSUM_OFFSET, crc);
  }

  /**
   * Whether the {@link #LENGTH} bytes at {@code offset} look like a group header at {@code
   * position} of some log, whatever its salt.
   */
  static boolean looksLikeOne(byte[] array, int offset, long position) {
    if (array[offset] != MARK
        || (array[offset + KIND_OFFSET] != RECORDS && array[offset + KIND_OFFSET] != INDEX)) {
      return false;
    }
    return new ByteReader(array, offset + POSITION_OFFSET, 8).readLong() == position;
  }

  /** The header at {@code offset}, which holds {@link #LENGTH} bytes; null if it is none. */
  static @Nullable GroupHeader parse(
      byte[] array, int offset, long position, LogChecksum checksum) {
    if (!looksLikeOne(array, offset, position)) {
      return null;
    }
    ByteReader in = new ByteReader(array, offset, LENGTH);
    in.skip(KIND_OFFSET);
    int kind = in.readUnsignedByte();
    in.skip(2);
    int bodyLength = in.readInt();
    int count = in.readInt();
    GroupHeader header =
        new GroupHeader(kind, bodyLength, count, in.readLong(), in.readLong(), in.readLong());
    boolean valid =
        in.readInt() == checksum.of(position, array, offset, CHECKSUM_OFFSET)
            && bodyLength >= 0
            && count >= 0
            && header.syncedUpTo <= position;
    return valid ? header : null;
  }
}
