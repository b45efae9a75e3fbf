package org.stele.tserver.coordinator;

import java.io.IOException;
import java.util.List;

/**
 * The logs of servers that are gone. Idempotent, also over restarts in between; thread-safe; may
 * block.
 */
public interface LogFence {
  /**
   * Takes the logs of a session from its server, should it still run: from here on nothing is added
   * to them. If the logs are nowhere there were some, as far as anybody knows: its tablets are not
   * to be opened without them.
   */
  FencedLogs fence(String session) throws IOException;

  /** The fenced sessions that logs are left of. */
  List<String> fencedSessions() throws IOException;

  /** Deletes the logs of a fenced session, which nothing needs any more. */
  void delete(String session) throws IOException;

  /**
   * What logs there are, or have been lost.
   *
   * @param data of users' tablets
   * @param meta of the metadata tablet
   */
  record FencedLogs(boolean data, boolean meta) {}
}
