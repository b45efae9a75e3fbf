package org.stele.core.sortedfile;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.stele.core.data.ByteReader;
import org.stele.core.data.MalformedBytesException;

/**
 * A data or index block in memory.
 *
 * <pre>
 *   payload = entry* restart* restart count (4)
 *   entry   = shared (varint) rest (varint) value length (varint) key rest, value
 *   restart = offset (4) of an entry that shares nothing
 * </pre>
 *
 * <p>The whole structure and the order of the keys are checked once, when the block is made. So the
 * searches below, which run for every lookup, trust it: keys ascend, every length is within the
 * block, and {@code shared} is the longest prefix that a key has in common with the one before
 * (which is what makes the search within a restart interval cheap).
 */
final class EntryBlock extends Block {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  /** End of the entries, start of the restart points. */
  final int entriesEnd;

  final int restartCount;
  final int entryCount;

  /**
   * Checks the payload.
   *
   * @throws MalformedBytesException if it is not that of a block with at least {@code minEntries}
   */
  EntryBlock(byte[] payload, int minEntries) {
    super(payload);
    if (payload.length < 4) {
      throw new MalformedBytesException("a block of " + payload.length + " bytes");
    }
    restartCount = (int) INT.get(payload, payload.length - 4);
    if (restartCount < 0 || restartCount > (payload.length - 4) / 4) {
      throw new MalformedBytesException(
          restartCount + " restart points in a block of " + payload.length + " bytes");
    }
    entriesEnd = payload.length - 4 - 4 * restartCount;
    entryCount = checkEntries();
    if (entryCount < minEntries) {
      throw new MalformedBytesException("a block with " + entryCount + " entries");
    }
  }

  private int checkEntries() {
    ByteReader in = new ByteReader(bytes, 0, entriesEnd);
    byte[] key = new byte[256];
    int keyLength = 0;
    int restart = 0;
    int entries = 0;
    while (in.hasRemaining()) {
      boolean isRestart = restart < restartCount && restartOffset(restart) == in.position();
      if (isRestart) {
        restart++;
      }
      int shared = in.readVarint();
      int rest = in.readVarint();
      int valueLength = in.readVarint();
      if (isRestart ? shared != 0 : entries == 0 || shared > keyLength) {
        throw malformed(in, "an entry shares " + shared + " bytes");
      }
      if (rest > in.remaining() || valueLength > in.remaining() - rest) {
        throw malformed(in, "an entry is longer than its block");
      }
      if (shared + rest > SortedFileFormat.MAX_KEY_BYTES) {
        throw malformed(in, "a key of " + (shared + rest) + " bytes");
      }
      int at = in.position();
      if (entries > 0 && !ascends(key, keyLength, shared, at, rest, isRestart)) {
        throw malformed(in, "a key is not greater than the one before it");
      }
      if (shared + rest > key.length) {
        key = Arrays.copyOf(key, Math.max(shared + rest, 2 * key.length));
      }
      System.arraycopy(bytes, at, key, shared, rest);
      keyLength = shared + rest;
      in.skip(rest + valueLength);
      entries++;
    }
    if (restart != restartCount) {
      throw malformed(in, "restart point " + restart + " is at no entry");
    }
    return entries;
  }

  private boolean ascends(
      byte[] before, int beforeLength, int shared, int at, int rest, boolean isRestart) {
    if (isRestart) {
      return Arrays.compareUnsigned(before, 0, beforeLength, bytes, at, at + rest) < 0;
    }
    return rest > 0 && (shared == beforeLength || (before[shared] & 0xff) < (bytes[at] & 0xff));
  }

  private static MalformedBytesException malformed(ByteReader in, String what) {
    return new MalformedBytesException(what + " (byte " + in.position() + " of the block)");
  }

  int restartOffset(int restart) {
    return (int) INT.get(bytes, entriesEnd + 4 * restart);
  }

  /** The last restart point whose key is smaller than {@code key}; -1 if none is. */
  int lastRestartBefore(byte[] key) {
    int low = 0;
    int high = restartCount - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (compareRestart(middle, key) < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return high;
  }

  /** Compares the key at a restart point with {@code key}. */
  int compareRestart(int restart, byte[] key) {
    int at = restartOffset(restart) + 1;
    int length = bytes[at++];
    if (length < 0) {
      length &= 0x7f;
      for (int shift = 7; ; shift += 7) {
        int b = bytes[at++];
        length |= (b & 0x7f) << shift;
        if (b >= 0) {
          break;
        }
      }
    }
    while (bytes[at++] < 0) {
      // the value's length is not needed here
    }
    return Arrays.compareUnsigned(bytes, at, at + length, key, 0, key.length);
  }
}
