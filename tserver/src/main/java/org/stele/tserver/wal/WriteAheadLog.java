package org.stele.tserver.wal;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The log of one server (the metadata tablet has a second one). Thread-safe.
 *
 * <p>Durable before visible before acknowledged: {@link LogEntry#committed} comes after the sync
 * that covers the record. A log file whose write or sync failed takes nothing more: its waiting
 * entries fail, and the next entries go to a new file. If there can be no new file the log is
 * broken for good and the server has to stop.
 */
public interface WriteAheadLog extends Closeable {
  /**
   * Gives an entry to the log; never blocks. An entry that is larger than the bound is taken when
   * nothing else waits. If the log is broken or closed the entry is {@linkplain LogEntry#refused
   * refused} before the call returns.
   *
   * @return false if the entries waiting are at their bound: nothing was done
   */
  boolean append(LogEntry entry);

  /** Bytes of entries that wait to be written, synced or applied. */
  long waitingBytes();

  /** Why the log takes nothing any more, if it is broken. */
  Optional<Exception> broken();

  /**
   * Closes the current file after what waits, and goes on in a new one; returns when that is done.
   */
  void roll() throws IOException;

  /** The live files, oldest first, with what each still holds; the last is the current one. */
  List<LogFile> files();

  /**
   * Says that everything of the tablet up to and with {@code sequence} is in sorted files that
   * metadata lists. Files of which nothing is needed any more are deleted, soon and on another
   * thread. To be called when metadata has taken the flush, never before; also when a tablet is
   * given up, with its last sequence.
   */
  void flushed(String tabletId, long sequence);

  /** Counters since the start. */
  LogMetrics metrics();

  /**
   * Writes and syncs what waits, writes the index, closes. Entries given after it are refused.
   * Idempotent; takes at most a fixed time, after which what still waits has failed.
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
  record LogFile(String path, long bytes, Set<String> tablets) {}
}
