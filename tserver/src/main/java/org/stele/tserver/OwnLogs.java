package org.stele.tserver;

import java.io.IOException;
import org.stele.tserver.recovery.LogDirectories;

/**
 * The log directory of this server. Closed after the logs: if nothing in them is needed any more,
 * or nothing ever came into them, the directory goes.
 */
final class OwnLogs implements AutoCloseable {
  private final LogDirectories directories;
  private final String session;

  /** True until tablets may come. */
  private volatile boolean unneeded = true;

  OwnLogs(LogDirectories directories, String session) {
    this.directories = directories;
    this.session = session;
  }

  /** From here on there may be tablets. */
  void needed() {
    unneeded = false;
  }

  /** All tablets are flushed and closed. */
  void unneeded() {
    unneeded = true;
  }

  @Override
  public void close() throws IOException {
    if (unneeded) {
      directories.deleteOwn(session);
    }
  }
}
