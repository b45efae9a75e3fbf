package org.stele.tserver.wal;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Sequence;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileStore;
import org.stele.tserver.wal.ExtentIndex.Extent;

/**
 * The records of one tablet out of the logs of a session, in the order of their sequences; reads
 * only the extents in which they lie. Not thread-safe.
 */
public final class LogCursor implements Closeable {
  private final FileStore store;
  private final List<Part> parts;
  private final String tabletId;
  private final IntPredicate epochs;

  private int part = -1;
  private int extent;
  private long position;
  private @Nullable LogWindow window;
  private LogChecksum checksum = new LogChecksum(0);
  private final long above;
  private long last;

  /** The extents of the tablet in one log. */
  record Part(String path, long salt, List<Extent> extents) {}

  LogCursor(FileStore store, List<Part> parts, String tabletId, IntPredicate epochs, long above) {
    this.store = store;
    this.parts = parts;
    this.tabletId = tabletId;
    this.epochs = epochs;
    this.above = above;
    this.last = above;
  }

  /**
   * The next record, whose payload is valid until the next call; null at the end.
   *
   * @throws CorruptFileException if the log is damaged where the tablet's records lie
   */
  public @Nullable LogRecord next() throws IOException {
    while (true) {
      LogWindow open = window;
      if (open == null || extent == parts.get(part).extents().size()) {
        if (!openNextPart()) {
          return null;
        }
        continue;
      }
      Extent current = parts.get(part).extents().get(extent);
      position = Math.max(position, current.start());
      if (position >= current.end()) {
        extent++;
        continue;
      }
      LogRecord found = nextIn(open, current);
      if (found != null) {
        return found;
      }
    }
  }

  private boolean openNextPart() throws IOException {
    close();
    if (part + 1 >= parts.size()) {
      part = parts.size();
      return false;
    }
    part++;
    extent = 0;
    position = 0;
    checksum = new LogChecksum(parts.get(part).salt());
    window = LogWindow.open(store, parts.get(part).path(), Long.MAX_VALUE);
    return true;
  }

  /** Moves past one record or group header; null if it is none of the tablet's. */
  private @Nullable LogRecord nextIn(LogWindow open, Extent current) throws IOException {
    if (open.byteAt(position).orElse(0) == GroupHeader.MARK) {
      if (open.groupAt(position, checksum) == null) {
        throw damaged("a group header does not verify");
      }
      position += GroupHeader.LENGTH;
      return null;
    }
    LogRecord found = open.recordAt(position, current.end(), checksum);
    if (found == null) {
      throw damaged("a record does not verify");
    }
    boolean wanted =
        found.tabletId().equals(tabletId)
            && epochs.test(found.epoch())
            && Long.compareUnsigned(found.lastSequence(), above) > 0;
    if (wanted) {
      if (Long.compareUnsigned(found.lastSequence(), last) <= 0) {
        throw damaged(
            "sequence "
                + Sequence.toString(found.lastSequence())
                + " comes after "
                + Sequence.toString(last));
      }
      last = found.lastSequence();
    }
    position += found.length();
    return wanted ? found : null;
  }

  private CorruptFileException damaged(String what) {
    return new CorruptFileException(
        parts.get(part).path(), position, what + "; it is needed by tablet " + tabletId);
  }

  @Override
  public void close() {
    if (window != null) {
      window.close();
      window = null;
    }
  }
}
