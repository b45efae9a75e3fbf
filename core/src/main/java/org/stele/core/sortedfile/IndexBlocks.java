package org.stele.core.sortedfile;

import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.MalformedBytesException;

/**
 * What makes an entry block an index block: each entry is a restart point, its key is at or after
 * the last key below it and before the next entry's first, its value is where the block below lies.
 *
 * <pre>
 *   value = offset (varint) length with trailer (varint)
 * </pre>
 */
final class IndexBlocks {
  private IndexBlocks() {}

  static void writeHandle(ByteWriter out, long offset, int length) {
    out.writeVarlong(offset).writeVarint(length);
  }

  /**
   * Makes an index block of a payload.
   *
   * @param blockOffset where the block lies: all blocks below it lie before
   * @throws MalformedBytesException if it is not an index block
   */
  static EntryBlock decode(byte[] payload, long blockOffset, int minEntries) {
    EntryBlock block = new EntryBlock(payload, minEntries);
    if (block.restartCount != block.entryCount) {
      throw new MalformedBytesException("an index block has entries without restart points");
    }
    ByteReader in = new ByteReader();
    for (int i = 0; i < block.entryCount; i++) {
      readHandle(block, i, in);
      long offset = in.readVarlong();
      int length = in.readVarint();
      if (in.hasRemaining()
          || offset < 0
          || length <= SortedFileFormat.TRAILER_LENGTH
          || offset > blockOffset - length) {
        throw new MalformedBytesException(
            "index entry " + i + " points to " + length + " bytes at " + offset);
      }
    }
    return block;
  }

  /** Sets {@code in} to the value of an entry. */
  static void readHandle(EntryBlock block, int entry, ByteReader in) {
    int end = entryEnd(block, entry);
    in.reset(block.bytes, block.restartOffset(entry), end - block.restartOffset(entry));
    in.readVarint();
    int keyLength = in.readVarint();
    in.readVarint();
    in.skip(keyLength);
  }

  /** The key of an entry, copied. */
  static Bytes key(EntryBlock block, int entry) {
    ByteReader in = new ByteReader();
    int start = block.restartOffset(entry);
    in.reset(block.bytes, start, entryEnd(block, entry) - start);
    in.readVarint();
    int keyLength = in.readVarint();
    in.readVarint();
    return Bytes.wrap(in.readBytes(keyLength));
  }

  private static int entryEnd(EntryBlock block, int entry) {
    return entry + 1 < block.entryCount ? block.restartOffset(entry + 1) : block.entriesEnd;
  }
}
