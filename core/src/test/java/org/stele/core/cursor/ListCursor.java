package org.stele.core.cursor;

import java.util.Arrays;
import java.util.Collection;
import java.util.SortedMap;
import java.util.TreeMap;
import org.stele.core.data.CellModel;

/**
 * A cursor over cells in memory, for tests. It is strict with its user: moves that are not legal
 * fail, and the views of a cell are overwritten at the next move, so that who keeps one reads
 * rubbish.
 */
public final class ListCursor implements CellCursor {
  private static final int PADDING = 3;

  private final byte[][] keys;
  private final byte[][] values;
  private int at = -1;
  private boolean onlySeeks = true;
  private boolean closed;
  private byte[] key = new byte[0];
  private byte[] value = new byte[0];

  private ListCursor(SortedMap<byte[], byte[]> cells) {
    keys = cells.keySet().toArray(byte[][]::new);
    values = cells.values().toArray(byte[][]::new);
  }

  /** The entries in the order of their keys. */
  public static ListCursor of(Collection<CellModel.Entry> entries) {
    SortedMap<byte[], byte[]> cells = new TreeMap<>(Arrays::compareUnsigned);
    for (CellModel.Entry entry : entries) {
      if (cells.put(entry.key(), entry.value().toArray()) != null) {
        throw new IllegalArgumentException("two entries with one key");
      }
    }
    return new ListCursor(cells);
  }

  @Override
  public void seek(byte[] target) {
    requireOpen();
    int found = Arrays.binarySearch(keys, target, Arrays::compareUnsigned);
    onlySeeks = false;
    stand(found >= 0 ? found : -found - 1);
  }

  @Override
  public void seekBefore(byte[] target) {
    requireOpen();
    int found = Arrays.binarySearch(keys, target, Arrays::compareUnsigned);
    onlySeeks = true;
    stand((found >= 0 ? found : -found - 1) - 1);
  }

  @Override
  public void next() {
    requireOpen();
    if (onlySeeks || !isValid()) {
      throw new IllegalStateException("next() is not legal here");
    }
    stand(at + 1);
  }

  private void stand(int index) {
    Arrays.fill(key, (byte) 0xa5);
    Arrays.fill(value, (byte) 0xa5);
    at = index;
    if (isValid()) {
      key = padded(keys[at]);
      value = padded(values[at]);
    }
  }

  private static byte[] padded(byte[] bytes) {
    byte[] padded = new byte[bytes.length + 2 * PADDING];
    Arrays.fill(padded, (byte) 0x5a);
    System.arraycopy(bytes, 0, padded, PADDING, bytes.length);
    return padded;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the cursor is closed");
    }
  }

  @Override
  public boolean isValid() {
    return !closed && at >= 0 && at < keys.length;
  }

  @Override
  public byte[] keyArray() {
    return key;
  }

  @Override
  public int keyOffset() {
    return PADDING;
  }

  @Override
  public int keyLength() {
    return key.length - 2 * PADDING;
  }

  @Override
  public byte[] valueArray() {
    return value;
  }

  @Override
  public int valueOffset() {
    return PADDING;
  }

  @Override
  public int valueLength() {
    return value.length - 2 * PADDING;
  }

  @Override
  public void close() {
    closed = true;
  }

  public boolean isClosed() {
    return closed;
  }
}
