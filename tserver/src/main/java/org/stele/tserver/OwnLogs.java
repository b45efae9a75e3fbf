package org.stele.tserver;

import java.io.IOException;
import org.stele.tserver.recovery.LogDirectories;

/**
 * The log directory of this server. Closed after the logs: if nothing ever came into them, the
 * directory goes; if all that came is flushed, an empty one stays, which says that nothing is
 * missing.
 */
final class OwnLogs implements AutoCloseable {
  private final LogDirectories directories;
  private final String session;

  private volatile boolean needed;
  private volatile boolean allFlushed;

  OwnLogs(LogDirectories directories, String session) {
    this.directories = directories;
    this.session = session;
  }

  /** From here on there may be tablets. */
  void needed() {
    needed = true;
  }

  /** All tablets are flushed and closed. */
  void allFlushed() {
    allFlushed = true;
  }

  @Override
  public void close() throws IOException {
    if (!needed) {
      directories.deleteOwn(session);
    } else if (allFlushed) {
      directories.leaveEmpty(session);
    }
  }
}
