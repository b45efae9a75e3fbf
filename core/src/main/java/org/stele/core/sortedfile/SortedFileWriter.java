package org.stele.core.sortedfile;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.stele.core.compression.Codec;
import org.stele.core.compression.Compression;
import org.stele.core.cursor.CellCursor;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.KeyCodec;
import org.stele.core.file.FileOutput;
import org.stele.core.file.FileStore;

/**
 * Writes a sorted file front to back: {@link #add} for each cell in key order, then {@link
 * #finish()}, which makes it durable and closes it. Closed before that, the file is garbage, which
 * its owner deletes.
 *
 * <p>One thread at a time. Needs memory for one data block, the open index blocks, and for up to
 * four million rows eight bytes each and their filter bits. After an {@link IOException} only
 * {@link #close()} is legal.
 *
 * <p>Data blocks are closed before the entry that would make them larger than the options say. The
 * index entry of a closed block is written when the next key is known, so that a short key between
 * the two can stand for the block. Index blocks are written between the data blocks as they fill,
 * so the index is never in memory as a whole; and so are the pages of a filter section.
 */
public final class SortedFileWriter implements Closeable {
  private static final int WRITE_BYTES = 256 << 10;

  private final String path;
  private final SortedFileOptions options;
  private final int filterSectionRows;
  private final FileOutput output;
  private final int salt;

  private final EntryBlockBuilder data = new EntryBlockBuilder(SortedFileFormat.RESTART_INTERVAL);
  private final List<EntryBlockBuilder> indexLevels = new ArrayList<>();
  private final RowFilter filter;
  private final List<SortedFileProperties.Filter.Section> filterSections = new ArrayList<>();
  private final Map<String, Bytes> extra = new TreeMap<>();

  /** Blocks that are complete and not yet given to the output. */
  private final ByteWriter pending = new ByteWriter(WRITE_BYTES + (64 << 10));

  private final ByteWriter handle = new ByteWriter(16);
  private byte[] compressed = new byte[0];
  private long position;
  private boolean finished;

  // The data block that was closed and has no index entry yet; none if its length is 0.
  private byte[] closedLastKey = new byte[0];
  private long closedOffset;
  private int closedLength;

  // The entry added last; none if entries is 0.
  private byte[] lastKey = new byte[256];
  private int lastKeyLength;
  private int lastRowLength;

  private byte[] firstKey = new byte[0];
  private long entries;
  private long rows;
  private long minSequence = -1L;
  private long maxSequence;
  private long minTimestamp = Long.MAX_VALUE;
  private long maxTimestamp = Long.MIN_VALUE;
  private final long[] typeCounts = new long[CellType.values().length + 1];
  private long keyBytes;
  private long valueBytes;
  private long dataBlocks;
  private long indexBlocks;

  private SortedFileWriter(
      String path, SortedFileOptions options, int filterSectionRows, FileOutput output) {
    this.path = path;
    this.options = options;
    this.filterSectionRows = filterSectionRows;
    this.output = output;
    this.salt = SortedFileFormat.salt(path);
    this.filter = new RowFilter(options.filterBits());
  }

  /** Makes the file; its directory must be there. */
  public static SortedFileWriter create(FileStore store, String path, SortedFileOptions options)
      throws IOException {
    return create(store, path, options, RowFilter.MAX_SECTION_ROWS);
  }

  static SortedFileWriter create(
      FileStore store, String path, SortedFileOptions options, int filterSectionRows)
      throws IOException {
    return new SortedFileWriter(path, options, filterSectionRows, store.create(path));
  }

  /** Adds the cell a cursor stands on. */
  public void add(CellCursor cursor) throws IOException {
    add(
        cursor.keyArray(),
        cursor.keyOffset(),
        cursor.keyLength(),
        cursor.valueArray(),
        cursor.valueOffset(),
        cursor.valueLength());
  }

  /**
   * Adds a cell by its encoded key.
   *
   * @throws IllegalArgumentException if the key is not greater than the one before, or no key, or
   *     if key or value are too long; nothing is added then
   */
  public void add(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength)
      throws IOException {
    if (finished) {
      throw new IllegalStateException(path + " is finished");
    }
    checkKey(key, keyOffset, keyLength, valueLength);
    boolean newRow = isNewRow(key, keyOffset, keyLength);
    int rowLength = newRow ? rowLength(key, keyOffset, keyLength) : lastRowLength;
    int entryBytes = keyLength + valueLength + 16;
    if (data.entries() > 0 && data.length() + entryBytes > options.blockBytes()) {
      closeDataBlock();
    }
    if (closedLength > 0) {
      addIndexEntry(separator(closedLastKey, key, keyOffset, keyLength));
    }
    if (newRow) {
      if (options.filterBits() > 0 && filter.rows() >= filterSectionRows) {
        closeFilterSection();
      }
      filterRow(key, keyOffset, rowLength);
    }
    data.add(key, keyOffset, keyLength, value, valueOffset, valueLength);
    count(key, keyOffset, keyLength, valueLength);
    remember(key, keyOffset, keyLength, rowLength);
  }

  private void checkKey(byte[] key, int offset, int length, int valueLength) {
    if (length < KeyCodec.TRAILER_LENGTH + 2 || length > SortedFileFormat.MAX_KEY_BYTES) {
      throw new IllegalArgumentException(path + ": a key of " + length + " bytes");
    }
    int code = KeyCodec.typeCode(key, offset, length);
    if (code <= 0 || code >= typeCounts.length) {
      throw new IllegalArgumentException(path + ": a key of the unknown type " + code);
    }
    if (valueLength > SortedFileFormat.MAX_BLOCK_BYTES / 2) {
      throw new IllegalArgumentException(path + ": a value of " + valueLength + " bytes");
    }
    if (entries > 0
        && Arrays.compareUnsigned(lastKey, 0, lastKeyLength, key, offset, offset + length) >= 0) {
      throw new IllegalArgumentException(
          path
              + ": entry "
              + entries
              + " is not greater than the one before it: row "
              + row(key, offset, length)
              + " after row "
              + row(lastKey, 0, lastKeyLength));
    }
  }

  private static String row(byte[] key, int offset, int length) {
    int part = KeyCodec.partLength(key, offset, offset + length);
    return KeyCodec.decodePart(key, offset, part).toString();
  }

  private boolean isNewRow(byte[] key, int offset, int length) {
    // The last byte of a row's end tells deletes of the row from cells, not rows apart.
    int prefix = lastRowLength - 1;
    return entries == 0
        || length <= prefix
        || key[offset + prefix] == (byte) 0xff
        || !Arrays.equals(lastKey, 0, prefix, key, offset, offset + prefix);
  }

  private int rowLength(byte[] key, int offset, int length) {
    return KeyCodec.partLength(key, offset, offset + length - KeyCodec.TRAILER_LENGTH);
  }

  private void filterRow(byte[] key, int offset, int rowLength) {
    rows++;
    if (options.filterBits() > 0) {
      filter.add(SortedFileReader.rowHash(key, offset, rowLength));
    }
  }

  private void count(byte[] key, int offset, int length, int valueLength) {
    long sequence = KeyCodec.sequence(key, offset, length);
    long timestamp = KeyCodec.timestamp(key, offset, length);
    if (Long.compareUnsigned(sequence, minSequence) < 0) {
      minSequence = sequence;
    }
    if (Long.compareUnsigned(sequence, maxSequence) > 0) {
      maxSequence = sequence;
    }
    minTimestamp = Math.min(minTimestamp, timestamp);
    maxTimestamp = Math.max(maxTimestamp, timestamp);
    typeCounts[KeyCodec.typeCode(key, offset, length)]++;
    keyBytes += length;
    valueBytes += valueLength;
    entries++;
  }

  private void remember(byte[] key, int offset, int length, int rowLength) {
    if (length > lastKey.length) {
      lastKey = new byte[Math.max(length, 2 * lastKey.length)];
    }
    System.arraycopy(key, offset, lastKey, 0, length);
    lastKeyLength = length;
    lastRowLength = rowLength;
    if (entries == 1) {
      firstKey = Arrays.copyOf(lastKey, length);
    }
  }

  /** Keeps something of the owner's with the file; replaces what had this name. */
  public void setExtra(String name, Bytes value) {
    extra.put(name, value);
  }

  /** Length of the file so far, without the data block being filled. */
  public long length() {
    return position;
  }

  public long entries() {
    return entries;
  }

  /** Writes the rest, syncs and closes the file. */
  public SortedFileSummary finish() throws IOException {
    if (finished) {
      throw new IllegalStateException(path + " is finished");
    }
    finished = true;
    if (data.entries() > 0) {
      closeDataBlock();
      addIndexEntry(closedLastKey);
    }
    SortedFileProperties.Filter filterInfo = writeFilter();
    SortedFileProperties.Index index = writeIndex();
    SortedFileProperties properties = properties(index, filterInfo);
    byte[] encoded = properties.encode();
    long propertiesOffset = position;
    int propertiesLength =
        writeBlock(SortedFileFormat.PROPERTIES, Compression.NONE, encoded, encoded.length);
    writeFooter(propertiesOffset, propertiesLength);
    flushPending();
    output.sync();
    output.close();
    return new SortedFileSummary(path, position, properties);
  }

  private SortedFileProperties properties(
      SortedFileProperties.Index index, SortedFileProperties.Filter filterInfo) {
    boolean empty = entries == 0;
    return new SortedFileProperties(
        options.tableId(),
        options.compression(),
        options.blockBytes(),
        entries,
        rows,
        empty ? 0 : minSequence,
        maxSequence,
        empty ? 0 : minTimestamp,
        empty ? 0 : maxTimestamp,
        Bytes.wrap(firstKey),
        Bytes.of(lastKey, 0, lastKeyLength),
        typeCounts[CellType.DELETE_COLUMN.code()] + typeCounts[CellType.DELETE_CELL.code()],
        typeCounts[CellType.DELETE_FAMILY.code()],
        typeCounts[CellType.DELETE_ROW.code()],
        keyBytes,
        valueBytes,
        dataBlocks,
        indexBlocks,
        index,
        filterInfo,
        extra);
  }

  private void closeDataBlock() throws IOException {
    closedLastKey = data.lastKey();
    closedOffset = position;
    ByteWriter payload = data.finish();
    closedLength =
        writeBlock(SortedFileFormat.DATA, options.compression(), payload.array(), payload.length());
    data.clear();
    dataBlocks++;
  }

  /** A short key from {@code last} on and before {@code next}. */
  private static byte[] separator(byte[] last, byte[] next, int nextOffset, int nextLength) {
    int common = Arrays.mismatch(last, 0, last.length, next, nextOffset, nextOffset + nextLength);
    if (common == last.length || common + 1 >= nextLength) {
      return last;
    }
    return Arrays.copyOfRange(next, nextOffset, nextOffset + common + 1);
  }

  private void addIndexEntry(byte[] separator) throws IOException {
    addIndexEntry(0, separator, closedOffset, closedLength);
    closedLength = 0;
  }

  private void addIndexEntry(int level, byte[] separator, long offset, int length)
      throws IOException {
    if (level == indexLevels.size()) {
      indexLevels.add(new EntryBlockBuilder(1));
    }
    EntryBlockBuilder index = indexLevels.get(level);
    if (index.entries() >= 2 && index.length() >= SortedFileFormat.INDEX_BLOCK_BYTES) {
      closeIndexBlock(level);
    }
    handle.clear();
    IndexBlocks.writeHandle(handle, offset, length);
    index.add(separator, 0, separator.length, handle.array(), 0, handle.length());
  }

  /** Writes the open index block of a level and adds it to the level above. */
  private void closeIndexBlock(int level) throws IOException {
    EntryBlockBuilder index = indexLevels.get(level);
    byte[] last = index.lastKey();
    long offset = position;
    int length = writeIndexBlock(index);
    addIndexEntry(level + 1, last, offset, length);
  }

  private int writeIndexBlock(EntryBlockBuilder index) throws IOException {
    ByteWriter payload = index.finish();
    int length =
        writeBlock(
            SortedFileFormat.INDEX, options.compression(), payload.array(), payload.length());
    index.clear();
    indexBlocks++;
    return length;
  }

  private SortedFileProperties.Index writeIndex() throws IOException {
    if (indexLevels.isEmpty()) {
      indexLevels.add(new EntryBlockBuilder(1));
    }
    int level = 0;
    while (level < indexLevels.size() - 1) {
      closeIndexBlock(level++);
    }
    long offset = position;
    int length = writeIndexBlock(indexLevels.get(level));
    return new SortedFileProperties.Index(level + 1, offset, length);
  }

  /** Makes and writes the pages of the rows since the last section. */
  private void closeFilterSection() throws IOException {
    byte[] lines = filter.finish();
    filterSections.add(
        new SortedFileProperties.Filter.Section(
            Bytes.of(lastKey, 0, lastRowLength - 1),
            position,
            lines.length / RowFilter.LINE_BYTES));
    for (int from = 0; from < lines.length; from += RowFilter.PAGE_BYTES) {
      int to = Math.min(lines.length, from + RowFilter.PAGE_BYTES);
      byte[] page = Arrays.copyOfRange(lines, from, to);
      writeBlock(SortedFileFormat.FILTER, Compression.NONE, page, page.length);
    }
  }

  private SortedFileProperties.Filter writeFilter() throws IOException {
    if (options.filterBits() == 0 || rows == 0) {
      return SortedFileProperties.Filter.NONE;
    }
    closeFilterSection();
    return new SortedFileProperties.Filter(
        options.filterBits(), RowFilter.probes(options.filterBits()), filterSections);
  }

  /**
   * Writes payload and trailer.
   *
   * @return the bytes written
   */
  private int writeBlock(byte kind, Compression compression, byte[] payload, int length)
      throws IOException {
    Compression used = Compression.NONE;
    byte[] stored = payload;
    int storedLength = length;
    if (compression != Compression.NONE) {
      Codec codec = compression.codec();
      int needed = codec.maxCompressedLength(length);
      if (compressed.length < needed) {
        compressed = new byte[needed];
      }
      int compressedLength = codec.compress(payload, 0, length, compressed, 0);
      if (compressedLength < length - length / 8) {
        used = compression;
        stored = compressed;
        storedLength = compressedLength;
      }
    }
    long blockOffset = position;
    int start = pending.length();
    pending.writeBytes(stored, 0, storedLength);
    pending.writeByte(kind).writeByte(used.id()).writeInt(length);
    int checksum =
        SortedFileFormat.checksum(
            salt, blockOffset, pending.array(), start, pending.length() - start);
    pending.writeInt(checksum);
    int written = pending.length() - start;
    position += written;
    if (pending.length() >= WRITE_BYTES) {
      flushPending();
    }
    return written;
  }

  private void writeFooter(long propertiesOffset, int propertiesLength) {
    int start = pending.length();
    position += SortedFileFormat.FOOTER_LENGTH;
    pending
        .writeInt(salt)
        .writeLong(0)
        .writeLong(position)
        .writeLong(propertiesOffset)
        .writeInt(propertiesLength);
    ByteWriter tail = new ByteWriter(SortedFileFormat.FOOTER_TAIL);
    tail.writeShort(SortedFileFormat.FOOTER_LENGTH)
        .writeShort(SortedFileFormat.VERSION)
        .writeBytes(SortedFileFormat.MAGIC);
    int checksum =
        SortedFileFormat.footerChecksum(
            pending.array(),
            start,
            SortedFileFormat.FOOTER_CHECKSUM,
            tail.array(),
            0,
            tail.length());
    pending.writeInt(checksum).writeBytes(tail.array(), 0, tail.length());
  }

  private void flushPending() throws IOException {
    output.write(ByteBuffer.wrap(pending.array(), 0, pending.length()));
    pending.clear();
  }

  /** Closes the file if {@link #finish()} did not; idempotent. */
  @Override
  public void close() throws IOException {
    finished = true;
    output.close();
  }
}
