package org.stele.core.sortedfile;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.stele.core.data.ByteWriter;

/** Numbers of the format, and the checksum of blocks (docs/formats/sorted-file.md). */
final class SortedFileFormat {
  /** The version that is written, and the newest that is read. */
  static final int VERSION = 1;

  /** The last bytes of each file. */
  static final byte[] MAGIC = "SteleSF\n".getBytes(ISO_8859_1);

  // The footer: offsets of its fields from its start.
  static final int FOOTER_SALT = 0;
  static final int FOOTER_FEATURES = FOOTER_SALT + 4;
  static final int FOOTER_FILE_LENGTH = FOOTER_FEATURES + 8;
  static final int FOOTER_PROPERTIES_OFFSET = FOOTER_FILE_LENGTH + 8;
  static final int FOOTER_PROPERTIES_LENGTH = FOOTER_PROPERTIES_OFFSET + 8;
  static final int FOOTER_CHECKSUM = FOOTER_PROPERTIES_LENGTH + 4;
  static final int FOOTER_LENGTH_FIELD = FOOTER_CHECKSUM + 4;
  static final int FOOTER_VERSION = FOOTER_LENGTH_FIELD + 2;
  static final int FOOTER_MAGIC = FOOTER_VERSION + 2;
  static final int FOOTER_LENGTH = FOOTER_MAGIC + 8;

  /** Checksum, length, version and magic: where they are, seen from the end, never changes. */
  static final int FOOTER_TAIL = FOOTER_LENGTH - FOOTER_CHECKSUM;

  /** The longest footer that a version may have. */
  static final int MAX_FOOTER_LENGTH = 4096;

  // The trailer of a block: offsets from its start.
  static final int TRAILER_KIND = 0;
  static final int TRAILER_COMPRESSION = TRAILER_KIND + 1;
  static final int TRAILER_RAW_LENGTH = TRAILER_COMPRESSION + 1;
  static final int TRAILER_CHECKSUM = TRAILER_RAW_LENGTH + 4;
  static final int TRAILER_LENGTH = TRAILER_CHECKSUM + 4;

  // Kinds of blocks.
  static final byte DATA = 1;
  static final byte INDEX = 2;
  static final byte FILTER = 3;
  static final byte PROPERTIES = 4;

  /** The largest block before compression, and the largest with its trailer after it. */
  static final int MAX_BLOCK_BYTES = 64 << 20;

  /** The largest encoded key: each byte of the largest key may be a zero, which takes two. */
  static final int MAX_KEY_BYTES = (2 << 20) + 64;

  /** Data blocks have a restart point each so many entries, index blocks at each entry. */
  static final int RESTART_INTERVAL = 16;

  /** Size of an index block at which it is closed, if it has two entries. */
  static final int INDEX_BLOCK_BYTES = 16 << 10;

  static final int CHECKSUM_CRC32C = 1;

  private SortedFileFormat() {}

  /** A number that makes the blocks of one file fail the checksums of another. */
  static int salt(String path) {
    CRC32C checksum = new CRC32C();
    checksum.update(path.getBytes(StandardCharsets.UTF_8));
    return (int) checksum.getValue();
  }

  /**
   * The checksum of a block: over the file's salt, the block's offset, its payload and its trailer
   * up to the checksum. A block that lies elsewhere than it was written to fails it.
   */
  static int checksum(int salt, long blockOffset, byte[] block, int offset, int length) {
    byte[] place = new byte[12];
    ByteWriter.putInt(place, 0, salt);
    ByteWriter.putLong(place, 4, blockOffset);
    CRC32C checksum = new CRC32C();
    checksum.update(place, 0, place.length);
    checksum.update(block, offset, length);
    return (int) checksum.getValue();
  }

  /** The checksum of a footer: over what is before it and what is behind it. */
  static int footerChecksum(
      byte[] before,
      int beforeOffset,
      int beforeLength,
      byte[] after,
      int afterOffset,
      int afterLength) {
    CRC32C checksum = new CRC32C();
    checksum.update(before, beforeOffset, beforeLength);
    checksum.update(after, afterOffset, afterLength);
    return (int) checksum.getValue();
  }
}
