package org.stele.tserver.wal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;

/**
 * The beginning of a log file; synced before anything in the file is acknowledged.
 *
 * @param length of the header in bytes
 * @param salt random; part of every checksum in the file
 * @param number of this log in its session, from 1
 * @param lowestLive number of the oldest log that was needed when this one was begun
 * @param predecessors the older logs that were needed then, oldest first. A number between the
 *     first of them and this log that is not listed holds nothing
 * @param tablets the tablets with unflushed records in the last of {@code predecessors}, with their
 *     highest sequence there; null if there were too many to list
 */
record LogHeader(
    int length,
    long salt,
    long number,
    long lowestLive,
    String instanceId,
    String session,
    List<Predecessor> predecessors,
    @Nullable Map<String, Long> tablets) {
  static final int VERSION = 1;

  /** Longer ones are refused when read, so never written. */
  static final int MAX_LENGTH = 16 << 20;

  static final int MAX_PREDECESSORS = 1024;
  static final int MAX_TABLETS = 50_000;

  /** "STELELOG". */
  private static final long MAGIC = 0x5354_454c_454c_4f47L;

  private static final int LENGTH_OFFSET = 8 + 2;

  /** Magic, version and length: enough to know how much to read. */
  static final int PREFIX_LENGTH = LENGTH_OFFSET + 4;

  private static final int CHECKSUM_LENGTH = 4;
  private static final int MIN_LENGTH = PREFIX_LENGTH + 4 * 8 + 2 + 2 * 4 + CHECKSUM_LENGTH;
  private static final int TABLETS_UNKNOWN = -1;

  /**
   * An older log as its successors knew it.
   *
   * @param synced bytes known to be on the disk: if there are fewer, that is damage
   * @param end where its acknowledged records end: what lies behind was never acknowledged
   */
  record Predecessor(long number, long synced, long end) {}

  /** The encoded header; {@link #length} of the argument is not looked at. */
  static byte[] encode(LogHeader header) {
    ByteWriter out = new ByteWriter(1024);
    out.writeLong(MAGIC).writeShort(VERSION).writeInt(0);
    out.writeLong(0); // required features
    out.writeLong(header.salt).writeLong(header.number).writeLong(header.lowestLive);
    writeText(out, header.instanceId);
    writeText(out, header.session);
    out.writeInt(header.predecessors.size());
    for (Predecessor predecessor : header.predecessors) {
      out.writeLong(predecessor.number).writeLong(predecessor.synced).writeLong(predecessor.end);
    }
    Map<String, Long> tablets = header.tablets;
    out.writeInt(tablets == null ? TABLETS_UNKNOWN : tablets.size());
    if (tablets != null) {
      tablets.forEach(
          (tabletId, highest) -> {
            writeText(out, tabletId);
            out.writeLong(highest);
          });
    }
    out.setInt(LENGTH_OFFSET, out.length() + CHECKSUM_LENGTH);
    out.writeInt(checksum(out.array(), out.length()));
    return out.toByteArray();
  }

  /** The length that a prefix of {@link #PREFIX_LENGTH} bytes announces; -1 if it is none. */
  static int announcedLength(byte[] prefix) {
    ByteReader in = new ByteReader(prefix);
    if (in.readLong() != MAGIC) {
      return -1;
    }
    in.readUnsignedShort();
    int length = in.readInt();
    return length < MIN_LENGTH || length > MAX_LENGTH ? -1 : length;
  }

  /**
   * Decodes a header.
   *
   * @return null if the bytes are not a whole header
   * @throws UnsupportedLogException if they are one of a newer version
   */
  static @Nullable LogHeader decode(String path, byte[] bytes) throws UnsupportedLogException {
    ByteReader in = new ByteReader(bytes);
    try {
      in.skip(bytes.length - CHECKSUM_LENGTH);
      if (in.readInt() != checksum(bytes, bytes.length - CHECKSUM_LENGTH)) {
        return null;
      }
      in.reset(bytes, 0, bytes.length - CHECKSUM_LENGTH);
      in.skip(8);
      int version = in.readUnsignedShort();
      in.skip(4);
      long features = in.readLong();
      if (version != VERSION || features != 0) {
        throw new UnsupportedLogException(path, version, features);
      }
      return decodeRest(in, bytes.length);
    } catch (MalformedBytesException e) {
      return null;
    }
  }

  private static LogHeader decodeRest(ByteReader in, int length) {
    long salt = in.readLong();
    long number = in.readLong();
    long lowestLive = in.readLong();
    String instanceId = readText(in);
    String session = readText(in);
    int count = in.readInt();
    List<Predecessor> predecessors = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      predecessors.add(new Predecessor(in.readLong(), in.readLong(), in.readLong()));
    }
    int tabletCount = in.readInt();
    Map<String, Long> tablets = tabletCount == TABLETS_UNKNOWN ? null : new LinkedHashMap<>();
    for (int i = 0; tablets != null && i < tabletCount; i++) {
      tablets.put(readText(in), in.readLong());
    }
    if (in.hasRemaining() || number < 1 || count < 0 || tabletCount < TABLETS_UNKNOWN) {
      throw new MalformedBytesException("a log header that is not as long as it says");
    }
    return new LogHeader(
        length, salt, number, lowestLive, instanceId, session, predecessors, tablets);
  }

  static void writeText(ByteWriter out, String text) {
    byte[] utf8 = text.getBytes(UTF_8);
    if (utf8.length > 255) {
      throw new IllegalArgumentException(
          "an id of " + utf8.length + " bytes, most are 255: " + text);
    }
    out.writeByte(utf8.length).writeBytes(utf8);
  }

  static String readText(ByteReader in) {
    return new String(in.readBytes(in.readUnsignedByte()), UTF_8);
  }

  private static int checksum(byte[] array, int length) {
    CRC32C crc = new CRC32C();
    crc.update(array, 0, length);
    return (int) crc.getValue();
  }

  /** A log that this release cannot read. */
  static final class UnsupportedLogException extends IOException {
    private static final long serialVersionUID = 1L;

    UnsupportedLogException(String path, int version, long features) {
      super(
          path
              + ": written by a newer release: format version "
              + version
              + " with required features 0x"
              + Long.toHexString(features)
              + ", this release reads version "
              + VERSION
              + " with features 0x0");
    }
  }
}
