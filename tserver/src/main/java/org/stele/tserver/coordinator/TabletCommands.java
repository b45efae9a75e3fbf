package org.stele.tserver.coordinator;

import java.util.List;
import java.util.Map;

/**
 * What the coordinator tells the servers of tablets, also the one in its own process. All commands
 * are idempotent; all but the closing wait for an answer, up to a deadline. Thread-safe.
 */
public interface TabletCommands {
  /** Has a server begin to open what the metadata gives it. */
  void open(String address, List<String> tabletIds);

  /**
   * Has a server begin to close a tablet, and does not wait for it: the tablet is closed when it is
   * no more among the {@link #states}.
   */
  void close(String address, String tabletId, boolean flush);

  /** The tablets of a server, with the state of each. */
  Map<String, TabletStatus> states(String address);
}
