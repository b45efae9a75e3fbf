package org.stele.tserver.wal;

import java.io.Closeable;
import java.io.IOException;

/**
 * The log of one server (the metadata tablet has a second one). Thread-safe.
 *
 * <p>Durable before visible before acknowledged: {@link LogEntry#committed} comes after the sync
 * that covers the record. A log file whose write or sync failed takes nothing more: its waiting
 * entries fail, and the next entries go to a new file.
 */
public interface WriteAheadLog extends Closeable {
  /**
   * Gives an entry to the log; never blocks.
   *
   * @return false if the bytes waiting are at their bound: nothing was done
   */
  boolean append(LogEntry entry);

  /** Bytes of entries waiting to be written or synced. */
  long waitingBytes();

  /**
   * Closes the current file after what waits, and goes on in a new one; returns when that is done.
   */
  void roll() throws IOException;

  /** The live files, oldest first, with what each still holds. */
  java.util.List<LogFile> files();

  /**
   * Says that everything of the tablet up to and with {@code sequence} is in sorted files that
   * metadata lists. Files of which nothing is needed any more are deleted.
   */
  void flushed(String tabletId, long sequence);

  /**
   * Writes and syncs what waits, writes the index, closes. Entries given after it fail. Idempotent.
   */
  @Override
  void close() throws IOException;

  /**
   * One file of the log.
   *
   * @param path in the file store
   * @param bytes written so far
   * @param tablets ids of the tablets with records in it that are not yet flushed
   */
  record LogFile(String path, long bytes, java.util.Set<String> tablets) {}
}
