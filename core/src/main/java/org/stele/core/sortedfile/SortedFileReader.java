package org.stele.core.sortedfile;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.cursor.CellCursor;
import org.stele.core.data.ByteReader;
import org.stele.core.data.Bytes;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileInput;
import org.stele.core.file.FileStore;

/**
 * Reads one sorted file. Holds the file open and the root of its index in memory; all other blocks
 * come through the cache. Thread-safe and shared by all that read the file; its cursors are not.
 *
 * <p>Damage anywhere comes out as a {@link CorruptFileException} of whatever touches it, each time.
 */
public final class SortedFileReader implements Closeable {
  private static final int MAX_INDEX_LEVELS = 16;

  private final FileInput input;
  private final long fileId;
  private final BlockCache cache;
  private final BlockReader blocks;
  private final SortedFileFooter footer;
  private final SortedFileProperties properties;
  private final EntryBlock root;
  private final FilterSection[] filterSections;
  private final int probes;

  // The encoded rows that the file begins and ends with, without the last byte of their end.
  private final byte[] firstRow;
  private final byte[] lastRow;

  private SortedFileReader(
      FileInput input,
      long fileId,
      BlockCache cache,
      BlockReader blocks,
      SortedFileFooter footer,
      SortedFileProperties properties,
      EntryBlock root) {
    this.input = input;
    this.fileId = fileId;
    this.cache = cache;
    this.blocks = blocks;
    this.footer = footer;
    this.properties = properties;
    this.root = root;
    this.probes = properties.filter().probes();
    this.filterSections =
        properties.filter().sections().stream()
            .map(FilterSection::new)
            .toArray(FilterSection[]::new);
    this.firstRow = rowOf(properties.firstKey().unsafeArray());
    this.lastRow = rowOf(properties.lastKey().unsafeArray());
  }

  /**
   * Opens a file and checks its footer, its properties and the root of its index.
   *
   * @param fileId names the file in the cache: a number that this process gives to no other file
   * @throws CorruptFileException if one of them is damaged
   * @throws org.stele.core.file.UnsupportedFormatException if a newer release wrote the file
   */
  public static SortedFileReader open(FileStore store, String path, long fileId, BlockCache cache)
      throws IOException {
    FileInput input = store.open(path);
    try {
      SortedFileFooter footer = SortedFileFooter.read(input);
      BlockReader blocks = new BlockReader(input, footer.salt());
      SortedFileProperties properties = readProperties(blocks, footer);
      SortedFileProperties.Index index = properties.index();
      EntryBlock root =
          blocks.readIndex(
              index.rootOffset(), index.rootLength(), properties.entries() == 0 ? 0 : 1);
      return new SortedFileReader(input, fileId, cache, blocks, footer, properties, root);
    } catch (IOException | RuntimeException | Error e) {
      input.close();
      throw e;
    }
  }

  private static SortedFileProperties readProperties(BlockReader blocks, SortedFileFooter footer)
      throws IOException {
    byte[] payload =
        blocks.readPayload(
            SortedFileFormat.PROPERTIES, footer.propertiesOffset(), footer.propertiesLength());
    try {
      SortedFileProperties properties = SortedFileProperties.decode(payload);
      check(properties, footer.propertiesOffset());
      return properties;
    } catch (MalformedBytesException e) {
      throw blocks.corrupt(footer.propertiesOffset(), e);
    }
  }

  /** Checks what the code below relies on. */
  private static void check(SortedFileProperties properties, long blocksEnd) {
    if (properties.index().levels() < 1 || properties.index().levels() > MAX_INDEX_LEVELS) {
      throw new MalformedBytesException("an index of " + properties.index().levels() + " levels");
    }
    if (properties.entries() > 0) {
      KeyCodec.decode(properties.firstKey().unsafeArray());
      KeyCodec.decode(properties.lastKey().unsafeArray());
    }
    for (SortedFileProperties.Filter.Section section : properties.filter().sections()) {
      long pages = (section.lines() + RowFilter.LINES_PER_PAGE - 1L) / RowFilter.LINES_PER_PAGE;
      long length =
          (long) section.lines() * RowFilter.LINE_BYTES + pages * SortedFileFormat.TRAILER_LENGTH;
      if (section.lines() < 1 || section.offset() < 0 || section.offset() > blocksEnd - length) {
        throw new MalformedBytesException(
            "a filter of " + section.lines() + " lines at " + section.offset());
      }
    }
    List<SortedFileProperties.Filter.Section> sections = properties.filter().sections();
    if (!sections.isEmpty()
        && !Arrays.equals(
            sections.get(sections.size() - 1).lastRow().unsafeArray(),
            rowOf(properties.lastKey().unsafeArray()))) {
      throw new MalformedBytesException("the filter does not end with the file's last row");
    }
  }

  private static byte[] rowOf(byte[] key) {
    return key.length == 0 ? key : Arrays.copyOf(key, KeyCodec.partLength(key, 0, key.length) - 1);
  }

  public String path() {
    return input.path();
  }

  /** The number that names the file in the cache. */
  public long fileId() {
    return fileId;
  }

  /** Length of the file in bytes. */
  public long length() {
    return input.length();
  }

  public SortedFileProperties properties() {
    return properties;
  }

  /** Memory held for as long as the reader is open, in bytes, about. */
  public long pinnedBytes() {
    return root.weight() + firstRow.length + lastRow.length + 512L;
  }

  /** The hash that filters look a row up by; the same for all files. */
  public static long rowHash(byte[] key, int rowPartLength) {
    return rowHash(key, 0, rowPartLength);
  }

  static long rowHash(byte[] key, int offset, int rowPartLength) {
    return RowFilter.hash(key, offset, rowPartLength - 2);
  }

  /**
   * Whether the file may have entries of a row; false is certain. May read a page of the filter.
   *
   * @param key begins with the encoded row
   * @param rowPartLength the row's length there, its end included ({@link KeyCodec#partLength})
   */
  public boolean mayContainRow(byte[] key, int rowPartLength) throws IOException {
    return mayContainRow(key, rowPartLength, rowHash(key, rowPartLength));
  }

  /** The same with the row's {@link #rowHash}, for a caller that asks many files. */
  public boolean mayContainRow(byte[] key, int rowPartLength, long rowHash) throws IOException {
    int length = rowPartLength - 1;
    if (properties.entries() == 0
        || Arrays.compareUnsigned(key, 0, length, firstRow, 0, firstRow.length) < 0
        || Arrays.compareUnsigned(key, 0, length, lastRow, 0, lastRow.length) > 0) {
      return false;
    }
    if (filterSections.length == 0) {
      return true;
    }
    FilterSection section = filterSections[0];
    for (int i = 1; section.isBefore(key, length); i++) {
      section = filterSections[i];
    }
    int line = RowFilter.line(rowHash, section.lines);
    int page = line / RowFilter.LINES_PER_PAGE;
    FilterPage lines = filterPage(section.pageOffset(page), section.pageBytes(page));
    return RowFilter.mayContain(
        lines.bytes, line % RowFilter.LINES_PER_PAGE * RowFilter.LINE_BYTES, rowHash, probes);
  }

  private FilterPage filterPage(long offset, int pageBytes) throws IOException {
    Block block = cache.getIfPresent(BlockCache.Kind.INDEX, fileId, offset);
    if (block == null) {
      NonBlocking.assertMayBlock();
      block =
          cache.get(
              BlockCache.Kind.INDEX,
              fileId,
              offset,
              () -> blocks.readFilterPage(offset, pageBytes));
    }
    if (block instanceof FilterPage page && page.bytes.length == pageBytes) {
      return page;
    }
    throw blocks.corrupt(offset, "an index block in place of a filter page");
  }

  /**
   * A cursor over all entries.
   *
   * @param cacheBlocks whether data blocks that it reads are kept in the cache; those that are
   *     there are used in any case
   */
  public CellCursor cursor(boolean cacheBlocks) {
    return new SortedFileCursor().reset(this, cacheBlocks);
  }

  /**
   * About {@code count} keys that cut the file into parts of like size, ascending; fewer if the
   * file has fewer blocks. They are made up from the cells around the cuts and need not be keys of
   * cells. May read index blocks.
   */
  public List<Bytes> sampleKeys(int count) throws IOException {
    List<EntryBlock> level = List.of(root);
    int entries = root.entryCount;
    for (int depth = 1; depth < indexLevels() && entries < count; depth++) {
      List<EntryBlock> below = new ArrayList<>();
      entries = 0;
      for (EntryBlock index : level) {
        for (int i = 0; i < index.entryCount; i++) {
          EntryBlock child = indexBlock(index, i, new ByteReader());
          below.add(child);
          entries += child.entryCount;
        }
      }
      level = below;
    }
    List<Bytes> keys = new ArrayList<>();
    for (EntryBlock index : level) {
      for (int i = 0; i < index.entryCount; i++) {
        keys.add(IndexBlocks.key(index, i));
      }
    }
    if (!keys.isEmpty()) {
      keys.remove(keys.size() - 1); // the end of the file is no cut
    }
    int wanted = Math.min(Math.max(count, 0), keys.size());
    List<Bytes> samples = new ArrayList<>(wanted);
    for (int i = 1; i <= wanted; i++) {
      samples.add(keys.get((int) ((long) i * keys.size() / (wanted + 1))));
    }
    return samples;
  }

  /** About how many bytes of the file lie before {@code key}. May read index blocks. */
  public long approximateOffset(byte[] key) throws IOException {
    ByteReader handle = new ByteReader();
    EntryBlock index = root;
    for (int level = 1; ; level++) {
      int entry = index.lastRestartBefore(key) + 1;
      if (entry == index.entryCount) {
        return properties.index().rootOffset();
      }
      if (level == indexLevels()) {
        IndexBlocks.readHandle(index, entry, handle);
        return handle.readVarlong();
      }
      index = indexBlock(index, entry, handle);
    }
  }

  SortedFileFooter footer() {
    return footer;
  }

  EntryBlock root() {
    return root;
  }

  int indexLevels() {
    return properties.index().levels();
  }

  BlockReader blocks() {
    return blocks;
  }

  /** The block that an entry of an index block points to, if that is an index block too. */
  EntryBlock indexBlock(EntryBlock parent, int entry, ByteReader handle) throws IOException {
    IndexBlocks.readHandle(parent, entry, handle);
    long offset = handle.readVarlong();
    int length = handle.readVarint();
    Block block = cache.getIfPresent(BlockCache.Kind.INDEX, fileId, offset);
    if (block == null) {
      NonBlocking.assertMayBlock();
      block =
          cache.get(
              BlockCache.Kind.INDEX, fileId, offset, () -> blocks.readIndex(offset, length, 1));
    }
    if (block instanceof EntryBlock index) {
      return index;
    }
    throw blocks.corrupt(offset, "a filter page in place of an index block");
  }

  /** The data block that an entry of an index block points to. */
  EntryBlock dataBlock(EntryBlock parent, int entry, ByteReader handle, boolean cacheBlocks)
      throws IOException {
    IndexBlocks.readHandle(parent, entry, handle);
    long offset = handle.readVarlong();
    int length = handle.readVarint();
    Block block = cache.getIfPresent(BlockCache.Kind.DATA, fileId, offset);
    if (block == null) {
      NonBlocking.assertMayBlock();
      block =
          cacheBlocks
              ? cache.get(
                  BlockCache.Kind.DATA, fileId, offset, () -> blocks.readData(offset, length))
              : blocks.readData(offset, length);
    }
    return (EntryBlock) block;
  }

  /** Closes the file; cursors must be closed before. Idempotent. */
  @Override
  public void close() {
    input.close();
  }

  @Override
  public String toString() {
    return "sorted file " + path();
  }

  /** A section of the filter, ready to be searched. */
  private static final class FilterSection {
    final byte[] sectionLastRow;
    final long offset;
    final int lines;

    FilterSection(SortedFileProperties.Filter.Section section) {
      sectionLastRow = section.lastRow().unsafeArray();
      offset = section.offset();
      lines = section.lines();
    }

    boolean isBefore(byte[] key, int length) {
      return Arrays.compareUnsigned(key, 0, length, sectionLastRow, 0, sectionLastRow.length) > 0;
    }

    long pageOffset(int page) {
      return offset + (long) page * (RowFilter.PAGE_BYTES + SortedFileFormat.TRAILER_LENGTH);
    }

    int pageBytes(int page) {
      return Math.min(RowFilter.LINES_PER_PAGE, lines - page * RowFilter.LINES_PER_PAGE)
          * RowFilter.LINE_BYTES;
    }
  }
}
