package org.stele.core.cursor;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.CellType;
import org.stele.core.data.Column;
import org.stele.core.data.KeyCodec;

/**
 * Shows of all the cells in its source (a merge of memtables and files) those that count. Owns the
 * source. One thread at a time.
 *
 * <p>What is hidden:
 *
 * <ul>
 *   <li>a cell with a sequence after the reader's: it was written later;
 *   <li>a cell in the scope of a delete that has its timestamp or a newer one and a higher
 *       sequence;
 *   <li>of cells with one column and timestamp, all but the one with the highest sequence;
 *   <li>of what is left of a column, all but the newest {@code versions} timestamps.
 * </ul>
 *
 * <p>The order of keys makes this one pass: deletes of a row come before its cells, deletes of a
 * family before the family's, deletes of a column before the cells of the column that they hide.
 *
 * <p>A cursor for a reader shows puts only. A cursor for a compaction shows deletes too, unless
 * they may be dropped; it hides the same cells. That is right also when older or newer files are
 * not in the compaction: its sources are contiguous in sequence, so a delete outside of it hides
 * either the dropped cells as well (a newer one: with a kept version it hides all older ones) or
 * none of them.
 */
public final class VersionCursor extends ForwardingCursor {
  /** Cells passed one by one before a seek is tried. */
  private static final int STEPS_BEFORE_SEEK = 8;

  private static final long ALL_SEQUENCES = -1L;

  /** A buffer that a long key has made larger than this is not kept for the next source. */
  private static final int KEPT_BUFFER_BYTES = 4 << 10;

  // What is shown; constant but for reset.
  private long maxSequence;
  private int versions;
  private boolean showsDeletes;
  private boolean skipsColumns;
  private boolean hasScopeDeletes;
  private @Nullable ColumnFilter filter;

  private final DeleteMarkers rowDeletes = new DeleteMarkers();
  private final DeleteMarkers familyDeletes = new DeleteMarkers();

  // The column the source is in: its encoded parts, and what was seen of it.
  private byte[] column = new byte[128];
  private int columnLength;
  private boolean columnDeleted;
  private long columnDeleteSequence;
  private boolean timestampSeen;
  private long lastTimestamp;
  private int versionsSeen;

  private byte @Nullable [] stop;
  private boolean valid;

  /** A cursor over nothing, for {@link #reset}. */
  public VersionCursor() {
    super(EmptyCursor.INSTANCE);
  }

  /** A new cursor that shows what a reader sees: as {@link #reset}. */
  public static VersionCursor read(
      CellCursor source,
      long maxSequence,
      int versions,
      List<Column> columns,
      boolean hasScopeDeletes) {
    return new VersionCursor().reset(source, maxSequence, versions, columns, hasScopeDeletes);
  }

  /**
   * Shows what a reader sees of another source. The last one must be closed.
   *
   * @param newMaxSequence the sequence up to which writes are visible
   * @param columns the columns wanted; empty: all
   * @param mayHaveScopeDeletes whether the source may have deletes of rows or families; false
   *     spares looking for them when the cursor starts inside a row
   */
  public VersionCursor reset(
      CellCursor newSource,
      long newMaxSequence,
      int newVersions,
      List<Column> columns,
      boolean mayHaveScopeDeletes) {
    begin(newSource, newMaxSequence, newVersions);
    showsDeletes = false;
    skipsColumns = true;
    hasScopeDeletes = mayHaveScopeDeletes;
    filter = columns.isEmpty() ? null : new ColumnFilter(columns, mayHaveScopeDeletes);
    return this;
  }

  /**
   * What a compaction or flush keeps.
   *
   * @param dropDeletes whether deletes may go: only if there is no older file or memtable
   */
  public static VersionCursor compact(CellCursor source, int versions, boolean dropDeletes) {
    VersionCursor cursor = new VersionCursor();
    cursor.begin(source, ALL_SEQUENCES, versions);
    cursor.showsDeletes = !dropDeletes;
    cursor.hasScopeDeletes = true;
    return cursor;
  }

  private void begin(CellCursor newSource, long newMaxSequence, int newVersions) {
    if (newVersions < 1) {
      throw new IllegalArgumentException(newVersions + " versions");
    }
    source = newSource;
    maxSequence = newMaxSequence;
    versions = newVersions;
    stop = null;
    valid = false;
    forgetAll();
  }

  @Override
  public void seek(byte[] key) throws IOException {
    valid = false;
    forgetAll();
    byte[] start = seekToStart(key);
    settle();
    if (start.length < key.length) {
      while (valid
          && Arrays.compareUnsigned(
                  keyArray(), keyOffset(), keyOffset() + keyLength(), key, 0, key.length)
              < 0) {
        next();
      }
    }
  }

  /**
   * Takes the source to {@code key}, or to the start of the column if the key is inside one, after
   * the deletes that are in force there were collected.
   *
   * @return where the source was taken to
   */
  private byte[] seekToStart(byte[] key) throws IOException {
    int parts = 0;
    int end = 0;
    while (parts < 4) {
      int next = partEnd(key, end);
      if (next < 0) {
        break;
      }
      boolean complete = key[next - 1] == 1;
      boolean amongDeletes = key[next - 1] == 0 && next < key.length;
      if (hasScopeDeletes && parts < 2 && (complete || amongDeletes)) {
        collectDeletes(key, next);
      }
      if (!complete) {
        break;
      }
      end = next;
      parts++;
    }
    byte[] start = parts == 4 && end < key.length ? Arrays.copyOf(key, end) : key;
    source.seek(start);
    return start;
  }

  /** Where the part that begins at {@code from} ends; -1 if its end is not in the key. */
  private static int partEnd(byte[] key, int from) {
    for (int i = from; i < key.length - 1; i++) {
      if (key[i] == 0) {
        if (key[i + 1] != (byte) 0xff) {
          return i + 2;
        }
        i++;
      }
    }
    return -1;
  }

  /** Meets the deletes of the row or family that the first {@code length} bytes of a key name. */
  private void collectDeletes(byte[] key, int length) throws IOException {
    byte[] scope = Arrays.copyOf(key, length);
    scope[length - 1] = 0;
    source.seek(scope);
    while (source.isValid()
        && source.keyLength() == length + KeyCodec.TRAILER_LENGTH
        && Arrays.equals(
            scope, 0, length, source.keyArray(), source.keyOffset(), source.keyOffset() + length)) {
      long sequence = KeyCodec.sequence(source.keyArray(), source.keyOffset(), source.keyLength());
      if (Long.compareUnsigned(sequence, maxSequence) <= 0) {
        counts(sequence);
      }
      source.next();
    }
  }

  private void forgetAll() {
    columnLength = 0;
    columnDeleted = false;
    timestampSeen = false;
    versionsSeen = 0;
    rowDeletes.clear();
    familyDeletes.clear();
  }

  @Override
  public void next() throws IOException {
    if (!valid) {
      throw new IllegalStateException("the cursor stands on no cell");
    }
    valid = false;
    source.next();
    settle();
  }

  /** Goes on to the next cell to show. */
  private void settle() throws IOException {
    int passed = 0;
    while (source.isValid()) {
      byte[] key = source.keyArray();
      int offset = source.keyOffset();
      int length = source.keyLength();
      long sequence = KeyCodec.sequence(key, offset, length);
      if (Long.compareUnsigned(sequence, maxSequence) > 0) {
        source.next();
        continue;
      }
      int partsLength = length - KeyCodec.TRAILER_LENGTH;
      if (!isInColumn(key, offset, partsLength)) {
        if (isPastStop(key, offset, length)) {
          return;
        }
        if (filter != null && !isWanted(filter, key, offset, partsLength, passed)) {
          passed++;
          continue;
        }
        enterColumn(key, offset, partsLength);
        passed = 0;
      }
      if (counts(sequence)) {
        valid = true;
        return;
      }
      if (skipsColumns && versionsSeen == versions && ++passed > STEPS_BEFORE_SEEK) {
        source.seek(columnEnd());
        passed = 0;
      } else {
        source.next();
      }
    }
  }

  private boolean isInColumn(byte[] key, int offset, int partsLength) {
    return partsLength == columnLength
        && Arrays.equals(column, 0, columnLength, key, offset, offset + partsLength);
  }

  private boolean isPastStop(byte[] key, int offset, int length) {
    return stop != null
        && Arrays.compareUnsigned(key, offset, offset + length, stop, 0, stop.length) >= 0;
  }

  /** Whether the column the source is at is wanted; if not, takes the source on. */
  private boolean isWanted(ColumnFilter wanted, byte[] key, int offset, int partsLength, int passed)
      throws IOException {
    int limit = offset + partsLength;
    int rowLength = KeyCodec.partLength(key, offset, limit);
    int from = offset + rowLength;
    if (from == limit) {
      return true; // a delete of the row
    }
    int range = wanted.firstEndingAfter(key, from, limit);
    if (range < wanted.count() && wanted.beginsBefore(range, key, from, limit)) {
      return true;
    }
    if (passed < STEPS_BEFORE_SEEK) {
      source.next();
    } else {
      source.seek(wanted.start(range, key, offset, rowLength));
    }
    return false;
  }

  private void enterColumn(byte[] key, int offset, int partsLength) {
    if (partsLength > column.length) {
      column = new byte[Math.max(partsLength, 2 * column.length)];
    }
    System.arraycopy(key, offset, column, 0, partsLength);
    columnLength = partsLength;
    columnDeleted = false;
    timestampSeen = false;
    versionsSeen = 0;
    if (!rowDeletes.isEmpty() && !rowDeletes.covers(key, offset, partsLength)) {
      rowDeletes.clear();
    }
    if (!familyDeletes.isEmpty() && !familyDeletes.covers(key, offset, partsLength)) {
      familyDeletes.clear();
    }
  }

  private byte[] columnEnd() {
    byte[] end = Arrays.copyOf(column, columnLength);
    end[columnLength - 1] = 2;
    return end;
  }

  /** Takes note of the cell the source is on; true if it is to be shown. */
  private boolean counts(long sequence) {
    byte[] key = source.keyArray();
    int offset = source.keyOffset();
    int length = source.keyLength();
    long timestamp = KeyCodec.timestamp(key, offset, length);
    boolean hidden =
        (columnDeleted && Long.compareUnsigned(sequence, columnDeleteSequence) < 0)
            || rowDeletes.hides(timestamp, sequence)
            || familyDeletes.hides(timestamp, sequence);
    byte type = KeyCodec.typeCode(key, offset, length);
    if (type == CellType.PUT.code()) {
      return !hidden && isNewVersion(timestamp);
    }
    if (hidden) {
      return false;
    }
    int partsLength = length - KeyCodec.TRAILER_LENGTH;
    switch (CellType.ofCode(type)) {
      case DELETE_ROW -> rowDeletes.add(key, offset, partsLength, timestamp, sequence);
      case DELETE_FAMILY -> familyDeletes.add(key, offset, partsLength, timestamp, sequence);
      case DELETE_COLUMN -> {
        columnDeleted = true;
        columnDeleteSequence = sequence;
      }
      case DELETE_CELL -> {
        timestampSeen = true;
        lastTimestamp = timestamp;
      }
      case PUT -> throw new IllegalStateException("a put is no delete");
    }
    return showsDeletes;
  }

  private boolean isNewVersion(long timestamp) {
    if ((timestampSeen && timestamp == lastTimestamp) || versionsSeen == versions) {
      return false;
    }
    timestampSeen = true;
    lastTimestamp = timestamp;
    versionsSeen++;
    return true;
  }

  @Override
  public void seekBefore(byte[] key) throws IOException {
    byte[] limit = key;
    while (true) {
      valid = false;
      source.seekBefore(limit);
      if (!source.isValid()) {
        return;
      }
      byte[] rowStart = rowStart();
      byte[] last = lastShown(rowStart, limit);
      if (last != null) {
        seek(last);
        return;
      }
      limit = rowStart;
    }
  }

  /** Before all of the row that the source is in. */
  private byte[] rowStart() {
    int offset = source.keyOffset();
    int length = KeyCodec.partLength(source.keyArray(), offset, offset + source.keyLength());
    byte[] start = Arrays.copyOfRange(source.keyArray(), offset, offset + length);
    start[length - 1] = 0;
    return start;
  }

  /** The key of the last cell shown in a range. */
  private byte @Nullable [] lastShown(byte[] from, byte[] to) throws IOException {
    byte[] last = null;
    seek(from);
    while (valid
        && Arrays.compareUnsigned(
                keyArray(), keyOffset(), keyOffset() + keyLength(), to, 0, to.length)
            < 0) {
      last = Arrays.copyOfRange(keyArray(), keyOffset(), keyOffset() + keyLength());
      next();
    }
    return last;
  }

  @Override
  public void stopBefore(byte @Nullable [] key) {
    stop = key;
    source.stopBefore(key);
  }

  @Override
  public boolean isValid() {
    return valid;
  }

  @Override
  public void close() {
    super.close();
    source = EmptyCursor.INSTANCE;
    valid = false;
    stop = null;
    filter = null;
    if (column.length > KEPT_BUFFER_BYTES) {
      column = new byte[128];
    }
  }
}
