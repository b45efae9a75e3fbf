package org.stele.tserver.wal;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.WriterStamp;

/** Records as they lie in a log (docs/formats/write-ahead-log.md). */
final class RecordCodec {
  /** A length has its top four bits free, so that a record is never taken for a group header. */
  static final int MAX_LENGTH = 256 << 20;

  private static final int CHECKSUM_OFFSET = 4;
  private static final int TYPE_OFFSET = CHECKSUM_OFFSET + 4;
  static final int MIN_LENGTH = TYPE_OFFSET + 1 + 1 + 1 + 4 + 8 + 4;

  private static final int TYPE_CELLS = 1;
  private static final int FLAG_WRITER = 1;
  private static final int FLAG_SERVER_TIME = 1 << 1;
  private static final int KNOWN_FLAGS = FLAG_WRITER | FLAG_SERVER_TIME;

  private RecordCodec() {}

  /**
   * Appends the record of an entry that has its place.
   *
   * @param start position in the file of the first byte of {@code out}
   * @throws IllegalArgumentException or another RuntimeException if what the entry gives could not
   *     be replayed; {@code out} is then as before
   */
  static void write(ByteWriter out, long start, LogEntry entry, LogChecksum checksum) {
    int begin = out.length();
    boolean done = false;
    try {
      writeChecked(out, start + begin, begin, entry, checksum);
      done = true;
    } finally {
      if (!done) {
        out.truncate(begin);
      }
    }
  }

  private static void writeChecked(
      ByteWriter out, long position, int begin, LogEntry entry, LogChecksum checksum) {
    WriterStamp writer = entry.writer();
    long serverTime = entry.serverTime();
    int flags =
        (writer.isNone() ? 0 : FLAG_WRITER)
            | (serverTime == LogEntry.NO_TIME ? 0 : FLAG_SERVER_TIME);
    long count = entry.lastSequence() - entry.firstSequence() + 1;
    if (count < 1 || count > MAX_LENGTH) {
      throw new IllegalArgumentException("a record of " + count + " cells");
    }
    out.writeInt(0).writeInt(0);
    out.writeByte(TYPE_CELLS).writeByte(flags);
    LogHeader.writeText(out, entry.tabletId());
    out.writeInt(Math.toIntExact(entry.epoch()));
    out.writeLong(entry.firstSequence());
    out.writeInt((int) count);
    if (!writer.isNone()) {
      out.writeLong(writer.writerId()).writeLong(writer.number());
      out.writeLong(writer.lowestUnresolved());
    }
    if (serverTime != LogEntry.NO_TIME) {
      out.writeLong(serverTime);
    }
    int payload = out.length();
    entry.encode(out);
    LogCells.check(
        out.array(), payload, out.length() - payload, entry.firstSequence(), (int) count);
    int length = out.length() - begin;
    if (length >= MAX_LENGTH) {
      throw new IllegalArgumentException(
          "a record of " + length + " bytes, must be below " + MAX_LENGTH);
    }
    out.setInt(begin, length);
    out.setInt(
        begin + CHECKSUM_OFFSET,
        checksum.around(position, out.array(), begin, CHECKSUM_OFFSET, 4, length));
  }

  /**
   * The length that a record of which at least four bytes lie at {@code offset} announces; -1 if it
   * cannot be one.
   */
  static int announcedLength(byte[] array, int offset) {
    int length = new ByteReader(array, offset, 4).readInt();
    return length < MIN_LENGTH || length >= MAX_LENGTH ? -1 : length;
  }

  /** The record of {@code length} bytes at {@code offset}; null if it is damaged. */
  static @Nullable LogRecord parse(
      String path, byte[] array, int offset, int length, long position, LogChecksum checksum) {
    ByteReader in = new ByteReader(array, offset, length);
    in.skip(CHECKSUM_OFFSET);
    if (in.readInt() != checksum.around(position, array, offset, CHECKSUM_OFFSET, 4, length)) {
      return null;
    }
    try {
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      if (type != TYPE_CELLS || (flags & ~KNOWN_FLAGS) != 0) {
        return null;
      }
      String tabletId = LogHeader.readText(in);
      int epoch = in.readInt();
      long firstSequence = in.readLong();
      int count = in.readInt();
      WriterStamp writer =
          (flags & FLAG_WRITER) == 0
              ? WriterStamp.NONE
              : new WriterStamp(in.readLong(), in.readLong(), in.readLong());
      long serverTime = (flags & FLAG_SERVER_TIME) == 0 ? LogEntry.NO_TIME : in.readLong();
      if (count < 1 || epoch < 0) {
        return null;
      }
      LogRecord.Payload payload =
          new LogRecord.Payload(array, in.position(), offset + length - in.position());
      return new LogRecord(
          path,
          position,
          length,
          tabletId,
          epoch,
          firstSequence,
          count,
          writer,
          serverTime,
          payload);
    } catch (MalformedBytesException e) {
      return null;
    }
  }
}
