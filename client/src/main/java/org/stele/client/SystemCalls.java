package org.stele.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.stele.client.location.MetadataSchema;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.ServerCalls;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;

/**
 * Calls between the servers of an instance: changes of the metadata table, and the coordinator's
 * commands to the servers of tablets, which are idempotent. Thread-safe; all wait. Servers refuse
 * them from anyone without the right of the system principal.
 */
public final class SystemCalls {
  private final ClientCore core;
  private final TabletRouter router;

  SystemCalls(ClientCore core) {
    this.core = core;
    this.router = new TabletRouter(core);
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
    List<ServerCalls.ColumnValue> wanted =
        conditions.stream()
            .map(
                condition ->
                    new ServerCalls.ColumnValue(
                        condition.row(),
                        condition.family(),
                        condition.qualifier(),
                        condition.value()))
            .toList();
    router.run(
        "metadata batch " + batchId,
        MetadataSchema.TABLE_NAME,
        Bytes.EMPTY,
        true,
        (location, tableId, limits) -> {
          core.serverCalls().applyMetadata(location.address(), batchId, wanted, mutations, limits);
          return batchId;
        });
  }

  public void openTablets(String address, List<String> tabletIds) {
    command(
        address,
        "opening of tablets",
        core.deadlineFromNow(),
        limits -> core.serverCalls().openTablets(address, tabletIds, limits));
  }

  /** Answers when the tablet is closed. */
  public void closeTablet(String address, String tabletId, boolean flush, Duration deadline) {
    command(
        address,
        "closing of tablet " + tabletId,
        after(deadline),
        limits -> core.serverCalls().closeTablet(address, tabletId, flush, limits));
  }

  /** Answers when the tablet is flushed. */
  public void flushTablet(String address, String tabletId, Duration deadline) {
    command(
        address,
        "flush of tablet " + tabletId,
        after(deadline),
        limits -> core.serverCalls().flushTablet(address, tabletId, limits));
  }

  /** Answers when the tablet has at most one file. */
  public void compactTablet(String address, String tabletId, Duration deadline) {
    command(
        address,
        "compaction of tablet " + tabletId,
        after(deadline),
        limits -> core.serverCalls().compactTablet(address, tabletId, limits));
  }

  /** The tablets of the server's session with the state of each. */
  public Map<String, String> tabletStates(String address) {
    return core.runAt(
        address,
        "listing of tablets",
        core.deadlineFromNow(),
        limits -> core.serverCalls().tabletStates(address, limits));
  }

  private void command(String address, String what, long deadlineNanos, Command command) {
    core.runAt(
        address,
        what,
        deadlineNanos,
        limits -> {
          command.make(limits);
          return what;
        });
  }

  private long after(Duration deadline) {
    return core.clock().nanos() + ClientOptions.positive("deadline", deadline).toNanos();
  }

  @FunctionalInterface
  private interface Command {
    void make(CallLimits limits) throws InterruptedException;
  }
}
