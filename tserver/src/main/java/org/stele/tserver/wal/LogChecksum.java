package org.stele.tserver.wal;

import java.util.zip.CRC32C;
import org.stele.core.data.ByteWriter;

/**
 * CRC32C over the salt of a log, the position of the bytes in it, and the bytes: what belongs to
 * another log, or to another place, does not verify. Not thread-safe.
 */
final class LogChecksum {
  private final CRC32C crc = new CRC32C();
  private final byte[] prefix = new byte[16];

  LogChecksum(long salt) {
    ByteWriter.putLong(prefix, 0, salt);
  }

  int of(long position, byte[] array, int offset, int length) {
    start(position);
    crc.update(array, offset, length);
    return (int) crc.getValue();
  }

  /** Leaves out {@code gap} bytes after the first {@code head} ones: the checksum itself. */
  int around(long position, byte[] array, int offset, int head, int gap, int length) {
    start(position);
    crc.update(array, offset, head);
    crc.update(array, offset + head + gap, length - head - gap);
    return (int) crc.getValue();
  }

  private void start(long position) {
    ByteWriter.putLong(prefix, 8, position);
    crc.reset();
    crc.update(prefix, 0, prefix.length);
  }
}
