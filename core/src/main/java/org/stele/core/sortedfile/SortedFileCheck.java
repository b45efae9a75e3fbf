package org.stele.core.sortedfile;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.Consumer;
import org.stele.core.data.ByteReader;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.file.CorruptFileException;

/**
 * Reads all of a file and compares everything in it with everything else: checksums, order, index,
 * filter, properties. Past the cache. One thread at a time.
 */
public final class SortedFileCheck {
  private final SortedFileReader reader;
  private final SortedFileProperties properties;
  private final BlockReader blocks;

  private long entries;
  private long rows;
  private long dataBlocks;
  private long indexBlocks;
  private long filterPages;
  private long storedBytes = SortedFileFormat.FOOTER_LENGTH;
  private long minSequence = -1L;
  private long maxSequence;
  private long minTimestamp = Long.MAX_VALUE;
  private long maxTimestamp = Long.MIN_VALUE;
  private final long[] typeCounts = new long[CellType.values().length + 1];

  private SortedFileCheck(SortedFileReader reader) {
    this.reader = reader;
    this.properties = reader.properties();
    this.blocks = reader.blocks();
  }

  /** What was found in a file that is in order. */
  public record Report(
      long entries, long rows, long dataBlocks, long indexBlocks, long filterPages) {}

  /**
   * Checks a file.
   *
   * @throws CorruptFileException at the first thing that is wrong
   */
  public static Report check(SortedFileReader reader) throws IOException {
    SortedFileCheck check = new SortedFileCheck(reader);
    check.visitAll(block -> check.storedBytes += block.storedBytes());
    check.walkEntries();
    check.compareTotals();
    return new Report(
        check.entries, check.rows, check.dataBlocks, check.indexBlocks, check.filterPages);
  }

  /**
   * Shows every block of a file after it was checked by itself: index depth first, then the rest.
   */
  public static void visitBlocks(SortedFileReader reader, Consumer<BlockInfo> visitor)
      throws IOException {
    new SortedFileCheck(reader).visitAll(visitor);
  }

  private void visitAll(Consumer<BlockInfo> visitor) throws IOException {
    SortedFileProperties.Index index = properties.index();
    int minEntries = properties.entries() == 0 ? 0 : 1;
    visitIndex(
        visitor, index.levels(), index.rootOffset(), index.rootLength(), Bytes.EMPTY, minEntries);
    for (SortedFileProperties.Filter.Section section : properties.filter().sections()) {
      visitFilter(visitor, section);
    }
    SortedFileFooter footer = reader.footer();
    byte[] payload =
        blocks.readPayload(
            SortedFileFormat.PROPERTIES, footer.propertiesOffset(), footer.propertiesLength());
    visitor.accept(
        new BlockInfo(
            BlockInfo.Kind.PROPERTIES,
            0,
            footer.propertiesOffset(),
            footer.propertiesLength(),
            payload.length,
            0,
            Bytes.EMPTY));
  }

  private void visitIndex(
      Consumer<BlockInfo> visitor,
      int level,
      long offset,
      int length,
      Bytes separator,
      int minEntries)
      throws IOException {
    EntryBlock block = blocks.readIndex(offset, length, minEntries);
    indexBlocks++;
    ByteReader handle = new ByteReader();
    Bytes last = Bytes.EMPTY;
    for (int i = 0; i < block.entryCount; i++) {
      last = IndexBlocks.key(block, i);
      IndexBlocks.readHandle(block, i, handle);
      long childOffset = handle.readVarlong();
      int childLength = handle.readVarint();
      if (level > 1) {
        visitIndex(visitor, level - 1, childOffset, childLength, last, 1);
      } else {
        visitData(visitor, childOffset, childLength, last);
      }
    }
    if (!separator.isEmpty() && !separator.equals(last)) {
      throw blocks.corrupt(offset, "an index block does not end with the key its parent gives");
    }
    visitor.accept(
        new BlockInfo(
            BlockInfo.Kind.INDEX,
            level,
            offset,
            length,
            block.bytes.length,
            block.entryCount,
            separator));
  }

  private void visitData(Consumer<BlockInfo> visitor, long offset, int length, Bytes separator)
      throws IOException {
    EntryBlock block = blocks.readData(offset, length);
    dataBlocks++;
    visitor.accept(
        new BlockInfo(
            BlockInfo.Kind.DATA,
            0,
            offset,
            length,
            block.bytes.length,
            block.entryCount,
            separator));
  }

  private void visitFilter(Consumer<BlockInfo> visitor, SortedFileProperties.Filter.Section section)
      throws IOException {
    long offset = section.offset();
    for (int line = 0; line < section.lines(); line += RowFilter.LINES_PER_PAGE) {
      int lines = Math.min(RowFilter.LINES_PER_PAGE, section.lines() - line);
      int bytes = lines * RowFilter.LINE_BYTES;
      blocks.readFilterPage(offset, bytes);
      filterPages++;
      int stored = bytes + SortedFileFormat.TRAILER_LENGTH;
      visitor.accept(
          new BlockInfo(BlockInfo.Kind.FILTER, 0, offset, stored, bytes, lines, Bytes.EMPTY));
      offset += stored;
    }
  }

  private void walkEntries() throws IOException {
    byte[] before = new byte[0];
    byte[] separator = new byte[0];
    try (SortedFileCursor cursor = new SortedFileCursor().reset(reader, false)) {
      for (cursor.seek(before); cursor.isValid(); cursor.next()) {
        byte[] key = Arrays.copyOf(cursor.keyArray(), cursor.keyLength());
        if (entries > 0 && Arrays.compareUnsigned(before, key) >= 0) {
          throw blocks.corrupt(cursor.blockOffset(), "a key is not greater than the one before");
        }
        byte[] ownSeparator = cursor.separator();
        if (Arrays.compareUnsigned(key, ownSeparator) > 0
            || (!Arrays.equals(separator, ownSeparator)
                && Arrays.compareUnsigned(key, separator) <= 0)) {
          throw blocks.corrupt(cursor.blockOffset(), "a key is outside what the index says");
        }
        countEntry(cursor, before, key);
        before = key;
        separator = ownSeparator;
      }
    }
    if (!Bytes.wrap(before).equals(properties.lastKey())) {
      throw wrong("the last key");
    }
  }

  private void countEntry(SortedFileCursor cursor, byte[] before, byte[] key) throws IOException {
    KeyCodec.DecodedKey decoded;
    try {
      decoded = KeyCodec.decode(key);
    } catch (MalformedBytesException e) {
      throw blocks.corrupt(cursor.blockOffset(), e);
    }
    if (entries == 0 && !Bytes.wrap(key).equals(properties.firstKey())) {
      throw wrong("the first key");
    }
    int row = KeyCodec.partLength(key, 0, key.length);
    if (entries == 0
        || before.length < row
        || !Arrays.equals(before, 0, row - 1, key, 0, row - 1)
        || before[row - 1] == (byte) 0xff) {
      rows++;
      if (!reader.mayContainRow(key, row)) {
        throw wrong("the row filter, which denies row " + decoded.row() + ",");
      }
    }
    entries++;
    typeCounts[decoded.type().code()]++;
    minTimestamp = Math.min(minTimestamp, decoded.timestamp());
    maxTimestamp = Math.max(maxTimestamp, decoded.timestamp());
    if (Long.compareUnsigned(decoded.sequence(), minSequence) < 0) {
      minSequence = decoded.sequence();
    }
    if (Long.compareUnsigned(decoded.sequence(), maxSequence) > 0) {
      maxSequence = decoded.sequence();
    }
  }

  private void compareTotals() throws IOException {
    require(storedBytes == reader.length(), "the sum of its blocks");
    require(entries == properties.entries(), "the number of entries");
    require(rows == properties.rows(), "the number of rows");
    require(dataBlocks == properties.dataBlocks(), "the number of data blocks");
    require(indexBlocks == properties.indexBlocks(), "the number of index blocks");
    require(
        typeCounts[CellType.DELETE_COLUMN.code()] + typeCounts[CellType.DELETE_CELL.code()]
                == properties.columnDeletes()
            && typeCounts[CellType.DELETE_FAMILY.code()] == properties.familyDeletes()
            && typeCounts[CellType.DELETE_ROW.code()] == properties.rowDeletes(),
        "the number of deletes");
    if (entries > 0) {
      require(
          minSequence == properties.minSequence() && maxSequence == properties.maxSequence(),
          "the range of sequences");
      require(
          minTimestamp == properties.minTimestamp() && maxTimestamp == properties.maxTimestamp(),
          "the range of timestamps");
    }
  }

  private void require(boolean right, String what) throws IOException {
    if (!right) {
      throw wrong(what);
    }
  }

  private CorruptFileException wrong(String what) {
    return blocks.corrupt(
        reader.footer().propertiesOffset(), what + " is not what the properties say");
  }
}
