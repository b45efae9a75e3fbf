package org.stele.client;

import org.stele.client.location.Location;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.core.data.Bytes;

/**
 * Brings an operation on one row to the server of its tablet: finds the tablet, makes the attempt
 * there, and after a failure looks again where the tablet is. Thread-safe.
 */
final class TabletRouter {
  private final ClientCore core;

  TabletRouter(ClientCore core) {
    this.core = core;
  }

  /**
   * Makes attempts until one succeeds or there is to be no other.
   *
   * @param what the operation, for messages
   * @param changes whether an unknown outcome matters
   */
  <R> R run(String what, String table, Bytes row, boolean changes, TabletAttempt<R> attempt) {
    TableFreshness freshness = new TableFreshness(core.locations(), table);
    return core.run(
        () -> describe(what, table, row),
        changes,
        core.deadlineFromNow(),
        attempts -> {
          while (true) {
            CallLimits limits = core.limits(attempts);
            Location location = null;
            try {
              String tableId = freshness.tableId(limits);
              location = core.locations().locate(tableId, row, limits);
              return attempt.make(location, tableId, limits);
            } catch (AttemptException e) {
              AttemptException named = TableFreshness.at(location, e);
              if (!freshness.handled(location, e)) {
                throw named;
              }
              attempts.again(named);
            }
          }
        });
  }

  static String describe(String what, String table, Bytes row) {
    return what + (row.isEmpty() ? "" : " of row " + row) + " of table " + table;
  }

  /** One attempt at the tablet that has the row. */
  @FunctionalInterface
  interface TabletAttempt<R> {
    R make(Location location, String tableId, CallLimits limits) throws InterruptedException;
  }
}
