package org.stele.core.file;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A file or directory of a {@link CrashableFileStore}, and how much of it is where. Guarded by the
 * store.
 */
final class CrashableFile {
  /** What of the bytes and entries that were not synced is there after a crash. */
  enum Survival {
    NOTHING,
    A_PREFIX,
    SOME_SECTORS,
    EVERYTHING;

    private static final List<Survival> ALL = List.of(values());

    static Survival any(Random random) {
      return ALL.get(random.nextInt(ALL.size()));
    }
  }

  private static final int SECTOR = 512;
  private static final int PREALLOCATED = 4096;

  final boolean directory;
  byte[] bytes = new byte[0];
  int length;
  int flushedLength;
  int syncedLength;
  boolean entrySynced;
  long expectedLength;

  /** Ranges that a failed sync has lost. */
  final List<int[]> lost = new ArrayList<>();

  CrashableFile(boolean directory) {
    this.directory = directory;
    this.entrySynced = directory;
  }

  void append(ByteBuffer source) {
    int count = source.remaining();
    if (length + count > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + count, 2 * bytes.length));
    }
    source.get(bytes, length, count);
    length += count;
  }

  CrashableFile copy() {
    CrashableFile copy = new CrashableFile(directory);
    copy.bytes = bytes.clone();
    copy.length = length;
    copy.flushedLength = flushedLength;
    copy.syncedLength = syncedLength;
    copy.entrySynced = entrySynced;
    copy.expectedLength = expectedLength;
    copy.lost.addAll(lost);
    return copy;
  }

  /** With the zeros that are reserved for a log. */
  int visibleLength() {
    if (length >= expectedLength) {
      return length;
    }
    return (int) Math.min(expectedLength, (length / PREALLOCATED + 1L) * PREALLOCATED);
  }

  CrashableFile afterCrash(Survival survival, Random random) {
    if (directory) {
      return this;
    }
    CrashableFile after = new CrashableFile(false);
    int unsynced = length - syncedLength;
    int kept =
        switch (survival) {
          case NOTHING -> 0;
          case A_PREFIX -> random.nextInt(unsynced + 1);
          case SOME_SECTORS, EVERYTHING -> unsynced;
        };
    after.append(ByteBuffer.wrap(bytes, 0, syncedLength + kept));
    if (survival == Survival.SOME_SECTORS) {
      for (int at = syncedLength; at < length; at = (at / SECTOR + 1) * SECTOR) {
        if (random.nextBoolean()) {
          Arrays.fill(after.bytes, at, Math.min(length, (at / SECTOR + 1) * SECTOR), (byte) 0);
        }
      }
    }
    for (int[] range : lost) {
      if (survival != Survival.EVERYTHING && range[0] < after.length) {
        Arrays.fill(after.bytes, range[0], Math.min(range[1], after.length), (byte) 0);
      }
    }
    after.flushedLength = after.length;
    after.syncedLength = after.length;
    after.entrySynced = true;
    return after;
  }
}
