package org.stele.tserver.wal;

import java.io.Closeable;
import java.io.IOException;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.stele.core.file.FileInput;
import org.stele.core.file.FileStore;

/**
 * Reads a log from front to back through one buffer, with read-ahead. Not thread-safe.
 *
 * <p>The buffer is as large as the largest record read, never larger than what the file holds.
 */
final class LogWindow implements Closeable {
  private static final int READ_AHEAD = 256 << 10;

  private final FileInput in;
  private final long limit;
  private byte[] buffer = new byte[0];
  private long start;
  private int length;

  LogWindow(FileInput in, long limit) {
    this.in = in;
    this.limit = Math.min(limit, in.length());
  }

  /** Opens a file; what lies behind {@code limit} is taken as not there. */
  static LogWindow open(FileStore store, String path, long limit) throws IOException {
    return new LogWindow(store.open(path), limit);
  }

  String path() {
    return in.path();
  }

  /** Bytes that may be read. */
  long limit() {
    return limit;
  }

  /** The buffer that {@link #load} has filled, until the next load. */
  byte[] array() {
    return buffer;
  }

  /**
   * Makes {@code count} bytes from {@code position} available.
   *
   * @return where in {@link #array()} they begin, or -1 if the file ends before
   */
  int load(long position, int count) throws IOException {
    if (position < 0 || count > limit - position) {
      return -1;
    }
    if (position < start || position + count > start + length) {
      int wanted = (int) Math.min(Math.max(count, READ_AHEAD), limit - position);
      if (buffer.length < wanted || buffer.length > 4 * Math.max(wanted, READ_AHEAD)) {
        buffer = new byte[wanted];
      }
      length = 0;
      in.readFully(position, buffer, 0, wanted);
      start = position;
      length = wanted;
    }
    return (int) (position - start);
  }

  /** The byte at a position, if the file has it. */
  OptionalInt byteAt(long position) throws IOException {
    int at = load(position, 1);
    return at < 0 ? OptionalInt.empty() : OptionalInt.of(buffer[at] & 0xff);
  }

  @Nullable GroupHeader groupAt(long position, LogChecksum checksum) throws IOException {
    int at = load(position, GroupHeader.LENGTH);
    return at < 0 ? null : GroupHeader.parse(buffer, at, position, checksum);
  }

  /** The record at a position that ends at or before {@code end}; null if there is none. */
  @Nullable LogRecord recordAt(long position, long end, LogChecksum checksum) throws IOException {
    int length = recordLengthAt(position, end);
    int at = length < 0 ? -1 : load(position, length);
    return at < 0 ? null : RecordCodec.parse(path(), buffer, at, length, position, checksum);
  }

  /** What the first bytes of a record say of its length; -1 if it does not fit. */
  int recordLengthAt(long position, long end) throws IOException {
    int at = load(position, 4);
    int announced = at < 0 ? -1 : RecordCodec.announcedLength(buffer, at);
    return announced > Math.min(end, limit) - position ? -1 : announced;
  }

  /** Position behind the last byte that is not zero. */
  long endOfContent() throws IOException {
    byte[] chunk = new byte[READ_AHEAD];
    long end = limit;
    while (end > 0) {
      int size = (int) Math.min(chunk.length, end);
      in.readFully(end - size, chunk, 0, size);
      for (int i = size - 1; i >= 0; i--) {
        if (chunk[i] != 0) {
          return end - size + i + 1;
        }
      }
      end -= size;
    }
    return 0;
  }

  /**
   * The first valid group header at or behind {@code from}; without a checksum, what looks like one
   * whatever the salt.
   *
   * @return its position, or -1
   */
  long findGroup(long from, @Nullable LogChecksum checksum) throws IOException {
    for (long position = from; position <= limit - GroupHeader.LENGTH; ) {
      int size = (int) Math.min(READ_AHEAD, limit - position);
      int at = load(position, size);
      int candidates = size - GroupHeader.LENGTH + 1;
      for (int i = 0; i < candidates; i++) {
        if (buffer[at + i] == GroupHeader.MARK
            && (checksum == null
                ? GroupHeader.looksLikeOne(buffer, at + i, position + i)
                : GroupHeader.parse(buffer, at + i, position + i, checksum) != null)) {
          return position + i;
        }
      }
      position += candidates;
    }
    return -1;
  }

  @Override
  public void close() {
    in.close();
  }
}
