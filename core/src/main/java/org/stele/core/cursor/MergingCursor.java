package org.stele.core.cursor;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cells of several sources in key order; of equal keys the one of the earlier source comes
 * first. Owns the sources.
 *
 * <p>Those that stand on a cell are kept in an array in order of their keys. A move takes the first
 * and puts it back where it belongs: with few sources, of which one often has several cells in a
 * row, that is one comparison. An exhausted source is no longer looked at. A forward seek moves
 * only the sources that stand before its key.
 */
public final class MergingCursor implements CellCursor {
  /** The first {@code sourceCount} are in use. */
  private CellCursor[] sources = new CellCursor[0];

  private int sourceCount;

  /** The first {@code count} are valid, sorted; ranks are their places in {@link #sources}. */
  private CellCursor[] sorted = new CellCursor[0];

  private int[] ranks = new int[0];
  private int count;

  /** Whether every source stands on its first cell from the merged position on. */
  private boolean forward;

  /** Whether sources may have ended sooner than the next seek wants. */
  private boolean stopChanged;

  /** A cursor without sources, for {@link #reset}. */
  public MergingCursor() {}

  /** Merges the sources; for none or one there is nothing to merge. */
  public static CellCursor of(List<? extends CellCursor> sources) {
    return switch (sources.size()) {
      case 0 -> EmptyCursor.INSTANCE;
      case 1 -> sources.get(0);
      default -> new MergingCursor().reset(sources);
    };
  }

  /** Stands nowhere in these sources, which take the place of the last ones. */
  public MergingCursor reset(List<? extends CellCursor> newSources) {
    sourceCount = newSources.size();
    if (sourceCount > sources.length) {
      sources = new CellCursor[sourceCount];
      sorted = new CellCursor[sourceCount];
      ranks = new int[sourceCount];
    }
    for (int i = 0; i < sourceCount; i++) {
      sources[i] = newSources.get(i);
    }
    count = 0;
    forward = false;
    stopChanged = false;
    return this;
  }

  @Override
  public void seek(byte[] key) throws IOException {
    if (forward && !stopChanged && count > 0 && compare(sorted[0], key) <= 0) {
      seekForward(key);
      return;
    }
    forward = false;
    stopChanged = false;
    count = 0;
    for (int i = 0; i < sourceCount; i++) {
      sources[i].seek(key);
      if (sources[i].isValid()) {
        insert(sources[i], i, 0);
      }
    }
    forward = true;
  }

  private void seekForward(byte[] key) throws IOException {
    forward = false;
    while (count > 0 && compare(sorted[0], key) < 0) {
      CellCursor first = sorted[0];
      first.seek(key);
      settleFirst(first);
    }
    forward = true;
  }

  @Override
  public void next() throws IOException {
    if (count == 0 || !forward) {
      throw new IllegalStateException("the cursor stands on no cell, or was put there backwards");
    }
    forward = false;
    CellCursor first = sorted[0];
    first.next();
    settleFirst(first);
    forward = true;
  }

  /** Brings the first source, which has moved, to its place. */
  private void settleFirst(CellCursor first) {
    if (first.isValid()) {
      if (count > 1 && isAfter(first, ranks[0], 1)) {
        int rank = ranks[0];
        removeFirst();
        insert(first, rank, 1);
      }
    } else {
      removeFirst();
    }
  }

  private void removeFirst() {
    count--;
    System.arraycopy(sorted, 1, sorted, 0, count);
    System.arraycopy(ranks, 1, ranks, 0, count);
  }

  /** Puts a source in at its place, which is not before {@code from}. */
  private void insert(CellCursor source, int rank, int from) {
    int low = from;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (isAfter(source, rank, middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    System.arraycopy(sorted, low, sorted, low + 1, count - low);
    System.arraycopy(ranks, low, ranks, low + 1, count - low);
    sorted[low] = source;
    ranks[low] = rank;
    count++;
  }

  private boolean isAfter(CellCursor source, int rank, int place) {
    CellCursor other = sorted[place];
    int order =
        Arrays.compareUnsigned(
            source.keyArray(),
            source.keyOffset(),
            source.keyOffset() + source.keyLength(),
            other.keyArray(),
            other.keyOffset(),
            other.keyOffset() + other.keyLength());
    return order > 0 || (order == 0 && rank > ranks[place]);
  }

  private static int compare(CellCursor cursor, byte[] key) {
    return Arrays.compareUnsigned(
        cursor.keyArray(),
        cursor.keyOffset(),
        cursor.keyOffset() + cursor.keyLength(),
        key,
        0,
        key.length);
  }

  @Override
  public void seekBefore(byte[] key) throws IOException {
    forward = false;
    count = 0;
    for (int i = 0; i < sourceCount; i++) {
      sources[i].seekBefore(key);
      if (sources[i].isValid() && (count == 0 || isAfter(sources[i], i, 0))) {
        sorted[0] = sources[i];
        ranks[0] = i;
        count = 1;
      }
    }
  }

  @Override
  public void stopBefore(byte @Nullable [] key) {
    stopChanged = true;
    for (int i = 0; i < sourceCount; i++) {
      sources[i].stopBefore(key);
    }
  }

  @Override
  public boolean isValid() {
    return count > 0;
  }

  @Override
  public byte[] keyArray() {
    return sorted[0].keyArray();
  }

  @Override
  public int keyOffset() {
    return sorted[0].keyOffset();
  }

  @Override
  public int keyLength() {
    return sorted[0].keyLength();
  }

  @Override
  public byte[] valueArray() {
    return sorted[0].valueArray();
  }

  @Override
  public int valueOffset() {
    return sorted[0].valueOffset();
  }

  @Override
  public int valueLength() {
    return sorted[0].valueLength();
  }

  @Override
  public void close() {
    for (int i = 0; i < sourceCount; i++) {
      sources[i].close();
    }
    Arrays.fill(sources, EmptyCursor.INSTANCE);
    Arrays.fill(sorted, EmptyCursor.INSTANCE);
    count = 0;
    sourceCount = 0;
  }
}
