package org.stele.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.stele.core.data.Mutation;

/**
 * Calls between the servers of an instance: changes of the metadata table, and the coordinator's
 * commands to the servers of tablets, which are idempotent. Thread-safe; all wait. Servers refuse
 * them from anyone without the right of the system principal.
 */
public final class SystemCalls {
  private final ClientCore core;

  SystemCalls(ClientCore core) {
    this.core = core;
  }

  /**
   * Applies a batch to the metadata table, all or nothing. A lost answer is retried with the same
   * id; the server of the metadata does not apply a batch twice by itself: the id is for its writer
   * to recognise what it wrote, by a column among the conditions and mutations.
   *
   * @throws org.stele.core.error.SteleException CONSTRAINT if a condition does not hold, which
   *     after a lost answer can come from the batch itself; UNKNOWN_OUTCOME if the last answer was
   *     lost
   */
  public void applyMetadata(
      String batchId, List<MetadataCondition> conditions, List<Mutation> mutations) {
    core.applyMetadata(batchId, conditions, mutations);
  }

  public void openTablets(String address, List<String> tabletIds) {
    core.openTablets(address, tabletIds);
  }

  /** Answers when the tablet is closed. */
  public void closeTablet(String address, String tabletId, boolean flush, Duration deadline) {
    core.closeTablet(address, tabletId, flush, deadline);
  }

  /** Answers when the tablet is flushed. */
  public void flushTablet(String address, String tabletId, Duration deadline) {
    core.flushTablet(address, tabletId, deadline);
  }

  /** Answers when the tablet has at most one file. */
  public void compactTablet(String address, String tabletId, Duration deadline) {
    core.compactTablet(address, tabletId, deadline);
  }

  /** The tablets of the server's session with the state of each. */
  public Map<String, String> tabletStates(String address) {
    return core.tabletStates(address);
  }
}
