package org.stele.tserver.coordinator;

import java.util.List;
import java.util.Map;

/**
 * What the coordinator tells the servers of tablets, also the one in its own process. All commands
 * are idempotent and wait for an answer, up to a deadline. Thread-safe.
 */
public interface TabletCommands {
  /** Has a server begin to open what the metadata gives it. */
  void open(String address, List<String> tabletIds);

  /** Answers when the tablet is closed, or was not open. */
  void close(String address, String tabletId, boolean flush);

  /** The tablets of a server, with the state of each. */
  Map<String, TabletStatus> states(String address);
}
