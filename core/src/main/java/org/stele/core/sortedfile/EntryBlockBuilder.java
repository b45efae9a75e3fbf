package org.stele.core.sortedfile;

import java.util.Arrays;
import org.stele.core.data.ByteWriter;

/** Builds the payload of a data or index block, entry by entry. Reused. Not thread-safe. */
final class EntryBlockBuilder {
  private final int restartInterval;
  private final ByteWriter out = new ByteWriter(16 << 10);
  private final ByteWriter lastKey = new ByteWriter(256);
  private int[] restarts = new int[64];
  private int restartCount;
  private int entries;

  EntryBlockBuilder(int restartInterval) {
    this.restartInterval = restartInterval;
  }

  void add(
      byte[] key, int keyOffset, int keyLength, byte[] value, int valueOffset, int valueLength) {
    int shared = 0;
    if (entries % restartInterval == 0) {
      if (restartCount == restarts.length) {
        restarts = Arrays.copyOf(restarts, restartCount * 2);
      }
      restarts[restartCount++] = out.length();
    } else {
      shared =
          Arrays.mismatch(
              lastKey.array(), 0, lastKey.length(), key, keyOffset, keyOffset + keyLength);
    }
    out.writeVarint(shared).writeVarint(keyLength - shared).writeVarint(valueLength);
    out.writeBytes(key, keyOffset + shared, keyLength - shared);
    out.writeBytes(value, valueOffset, valueLength);
    lastKey.clear();
    lastKey.writeBytes(key, keyOffset, keyLength);
    entries++;
  }

  int entries() {
    return entries;
  }

  /** Length of the block if it were finished now. */
  int length() {
    return out.length() + 4 * (restartCount + 1);
  }

  /** The key added last. */
  byte[] lastKey() {
    return lastKey.toByteArray();
  }

  /** Appends the restart points and gives the payload, valid until {@link #clear()}. */
  ByteWriter finish() {
    for (int i = 0; i < restartCount; i++) {
      out.writeInt(restarts[i]);
    }
    out.writeInt(restartCount);
    return out;
  }

  void clear() {
    out.clear();
    lastKey.clear();
    restartCount = 0;
    entries = 0;
  }
}
