package org.stele.core.sortedfile;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.CellCursor;
import org.stele.core.data.ByteReader;

/**
 * Walks one sorted file. Values are views into blocks; the key is put together in a buffer of the
 * cursor's own, which every entry changes only behind what it shares with the entry before.
 *
 * <p>A seek goes from the root of the index to one data block, or stays in the block the cursor is
 * in. One thread at a time; can be given another file by {@link #reset}, so that a thread makes it
 * once.
 */
public final class SortedFileCursor implements CellCursor {
  private static final byte[] NOTHING = {};

  /** A buffer that a long key has made larger than this is not kept for the next file. */
  private static final int KEPT_BUFFER_BYTES = 4 << 10;

  private @Nullable SortedFileReader reader;
  private boolean cacheBlocks;
  private final ByteReader handle = new ByteReader();

  // The way from the root to the data block: an index block and an entry in it for each level, up
  // to and with the leaf.
  private @Nullable EntryBlock[] indexBlocks = new EntryBlock[1];
  private int[] indexEntries = new int[1];
  private int leaf;

  private @Nullable EntryBlock data;
  private byte @Nullable [] stop;
  private boolean valid;

  // The entry in the data block: its key, its value, and where the next entry begins.
  private byte[] key = new byte[128];
  private int keyLength;
  private byte[] bytes = NOTHING;
  private int valueOffset;
  private int valueLength;
  private int nextOffset;

  // The entry read last: where it begins, its lengths, and where the rest of its key begins.
  private int entryOffset;
  private int shared;
  private int rest;
  private int restOffset;

  /** A cursor over nothing, for {@link #reset}. */
  public SortedFileCursor() {}

  /**
   * Stands nowhere in a file, which takes the place of the last one.
   *
   * @param newCacheBlocks whether data blocks that it reads are kept in the cache
   */
  public SortedFileCursor reset(SortedFileReader newReader, boolean newCacheBlocks) {
    reader = newReader;
    cacheBlocks = newCacheBlocks;
    leaf = newReader.indexLevels() - 1;
    if (leaf >= indexBlocks.length) {
      indexBlocks = new EntryBlock[leaf + 1];
      indexEntries = new int[leaf + 1];
    }
    indexBlocks[0] = newReader.root();
    data = null;
    stop = null;
    valid = false;
    return this;
  }

  private SortedFileReader file() {
    return requireNonNull(reader, "the cursor is closed");
  }

  private EntryBlock indexBlock(int level) {
    return requireNonNull(indexBlocks[level]);
  }

  @Override
  public void stopBefore(byte @Nullable [] stopKey) {
    stop = stopKey;
  }

  @Override
  public void seek(byte[] target) throws IOException {
    EntryBlock block = data;
    if (!valid || block == null || !isAheadInBlock(target)) {
      valid = false;
      block = descend(target);
      if (block == null) {
        return;
      }
    }
    valid = false;
    int restart = block.lastRestartBefore(target);
    if (scanTo(block, restart, target)) {
      valid = true;
    } else {
      enterNextBlock();
    }
  }

  /** Whether the first key from {@code target} on is in the data block or begins the next one. */
  private boolean isAheadInBlock(byte[] target) {
    return Arrays.compareUnsigned(key, 0, keyLength, target, 0, target.length) <= 0
        && indexBlock(leaf).compareRestart(indexEntries[leaf], target) >= 0;
  }

  /** Goes to the data block that {@code target} belongs into; null if it is after all entries. */
  private @Nullable EntryBlock descend(byte[] target) throws IOException {
    data = null;
    for (int level = 0; ; level++) {
      EntryBlock index = indexBlock(level);
      int entry = index.lastRestartBefore(target) + 1;
      if (entry == index.entryCount) {
        if (level == 0) {
          return null;
        }
        throw indexDisagrees(level);
      }
      indexEntries[level] = entry;
      if (level == leaf) {
        return enterData();
      }
      indexBlocks[level + 1] = file().indexBlock(index, entry, handle);
    }
  }

  private IOException indexDisagrees(int level) {
    IndexBlocks.readHandle(indexBlock(level - 1), indexEntries[level - 1], handle);
    return file()
        .blocks()
        .corrupt(handle.readVarlong(), "an index block ends before the key its parent gives");
  }

  private EntryBlock enterData() throws IOException {
    EntryBlock block = file().dataBlock(indexBlock(leaf), indexEntries[leaf], handle, cacheBlocks);
    data = block;
    bytes = block.bytes;
    nextOffset = 0;
    keyLength = 0;
    return block;
  }

  @Override
  public void next() throws IOException {
    if (!valid) {
      throw new IllegalStateException("the cursor stands on no cell");
    }
    EntryBlock block = data;
    if (block != null && nextOffset < block.entriesEnd) {
      readEntry();
    } else {
      valid = false;
      enterNextBlock();
    }
  }

  /** Goes to the first entry of the next data block, if there is one and it is before the stop. */
  private void enterNextBlock() throws IOException {
    byte[] limit = stop;
    if (limit != null && indexBlock(leaf).compareRestart(indexEntries[leaf], limit) >= 0) {
      return;
    }
    int level = leaf;
    while (indexEntries[level] + 1 >= indexBlock(level).entryCount) {
      if (level-- == 0) {
        return;
      }
    }
    indexEntries[level]++;
    for (; level < leaf; level++) {
      indexBlocks[level + 1] = file().indexBlock(indexBlock(level), indexEntries[level], handle);
      indexEntries[level + 1] = 0;
    }
    enterData();
    readEntry();
    valid = true;
  }

  @Override
  public void seekBefore(byte[] target) throws IOException {
    valid = false;
    EntryBlock block = descend(target);
    if (block == null) {
      if (!enterLastBlock()) {
        return;
      }
      standOnLast();
      return;
    }
    int restart = block.lastRestartBefore(target);
    if (restart < 0) {
      if (enterPreviousBlock()) {
        standOnLast();
      }
      return;
    }
    int start = block.restartOffset(restart);
    int end = scanTo(block, restart, target) ? entryOffset : block.entriesEnd;
    standBefore(start, end);
  }

  /** Stands on the last entry that begins before {@code end}, coming from a restart point. */
  private void standBefore(int start, int end) {
    nextOffset = start;
    keyLength = 0;
    while (nextOffset < end) {
      readEntry();
    }
    valid = true;
  }

  private void standOnLast() {
    EntryBlock block = data;
    if (block != null) {
      standBefore(block.restartOffset(block.restartCount - 1), block.entriesEnd);
    }
  }

  private boolean enterLastBlock() throws IOException {
    if (indexBlock(0).entryCount == 0) {
      return false;
    }
    indexEntries[0] = indexBlock(0).entryCount - 1;
    enterRightmostBelow(0);
    return true;
  }

  private boolean enterPreviousBlock() throws IOException {
    int level = leaf;
    while (indexEntries[level] == 0) {
      if (level-- == 0) {
        return false;
      }
    }
    indexEntries[level]--;
    enterRightmostBelow(level);
    return true;
  }

  private void enterRightmostBelow(int from) throws IOException {
    for (int level = from; level < leaf; level++) {
      EntryBlock below = file().indexBlock(indexBlock(level), indexEntries[level], handle);
      indexBlocks[level + 1] = below;
      indexEntries[level + 1] = below.entryCount - 1;
    }
    enterData();
  }

  // ---- Entries of the data block

  /**
   * Reads from a restart point to the first key at or after {@code target}; false if the block ends
   * before.
   *
   * <p>While the keys are smaller than the target, {@code matched} is how many bytes the last one
   * has in common with it. A key that shares more than that with the one before is smaller too, and
   * one that shares less is greater; so bytes are compared only where a key can first differ.
   */
  private boolean scanTo(EntryBlock block, int restart, byte[] target) {
    nextOffset = restart < 0 ? 0 : block.restartOffset(restart);
    keyLength = 0;
    int matched = 0;
    while (nextOffset < block.entriesEnd) {
      readEntry();
      if (shared > matched) {
        continue;
      }
      if (shared < matched) {
        return true;
      }
      int difference =
          Arrays.mismatch(bytes, restOffset, restOffset + rest, target, shared, target.length);
      if (difference < 0) {
        return true;
      }
      matched = shared + difference;
      if (matched == target.length) {
        return true;
      }
      if (difference < rest && (bytes[restOffset + difference] & 0xff) > (target[matched] & 0xff)) {
        return true;
      }
    }
    return false;
  }

  /** Reads the entry at {@code nextOffset}; the key buffer holds the key of the one before it. */
  private void readEntry() {
    byte[] b = bytes;
    int at = nextOffset;
    entryOffset = at;
    int sharedLength = b[at++];
    if (sharedLength < 0) {
      int shift = 7;
      sharedLength &= 0x7f;
      int more;
      do {
        more = b[at++];
        sharedLength |= (more & 0x7f) << shift;
        shift += 7;
      } while (more < 0);
    }
    int restLength = b[at++];
    if (restLength < 0) {
      int shift = 7;
      restLength &= 0x7f;
      int more;
      do {
        more = b[at++];
        restLength |= (more & 0x7f) << shift;
        shift += 7;
      } while (more < 0);
    }
    int length = b[at++];
    if (length < 0) {
      int shift = 7;
      length &= 0x7f;
      int more;
      do {
        more = b[at++];
        length |= (more & 0x7f) << shift;
        shift += 7;
      } while (more < 0);
    }
    int newKeyLength = sharedLength + restLength;
    if (newKeyLength > key.length) {
      key = Arrays.copyOf(key, Math.max(newKeyLength, 2 * key.length));
    }
    System.arraycopy(b, at, key, sharedLength, restLength);
    shared = sharedLength;
    rest = restLength;
    restOffset = at;
    keyLength = newKeyLength;
    valueOffset = at + restLength;
    valueLength = length;
    nextOffset = valueOffset + length;
  }

  /** The key that the index has for the block the cursor is in. */
  byte[] separator() {
    return IndexBlocks.key(indexBlock(leaf), indexEntries[leaf]).unsafeArray();
  }

  /** Where the block the cursor is in lies in the file. */
  long blockOffset() {
    IndexBlocks.readHandle(indexBlock(leaf), indexEntries[leaf], handle);
    return handle.readVarlong();
  }

  @Override
  public boolean isValid() {
    return valid;
  }

  @Override
  public byte[] keyArray() {
    return key;
  }

  @Override
  public int keyOffset() {
    return 0;
  }

  @Override
  public int keyLength() {
    return keyLength;
  }

  @Override
  public byte[] valueArray() {
    return bytes;
  }

  @Override
  public int valueOffset() {
    return valueOffset;
  }

  @Override
  public int valueLength() {
    return valueLength;
  }

  @Override
  public void close() {
    reader = null;
    Arrays.fill(indexBlocks, null);
    data = null;
    bytes = NOTHING;
    handle.reset(NOTHING, 0, 0);
    stop = null;
    valid = false;
    if (key.length > KEPT_BUFFER_BYTES) {
      key = new byte[128];
    }
  }
}
