package org.stele.client;

import org.jspecify.annotations.Nullable;
import org.stele.client.location.Location;
import org.stele.client.location.Locations;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.core.error.ErrorCode;

/**
 * What one operation knows of its table's id, and whether that may be out of date. Used by one
 * thread at a time.
 */
final class TableFreshness {
  private final Locations locations;
  private final String table;
  private @Nullable String used;
  private boolean wasCached;
  private boolean refreshed;

  TableFreshness(Locations locations, String table) {
    this.locations = locations;
    this.table = table;
  }

  String table() {
    return table;
  }

  /** Takes note of a known id that is used without asking {@link #tableId}. */
  void uses(String id) {
    if (!id.equals(used)) {
      used = id;
      wasCached = true;
    }
  }

  String tableId(CallLimits limits) throws InterruptedException {
    String cached = locations.cachedTableId(table);
    wasCached = cached != null;
    String id = cached != null ? cached : locations.tableId(table, limits);
    used = id;
    return id;
  }

  /**
   * Drops what the failure showed to be wrong.
   *
   * @param location at which the failure happened; null: before one was found
   * @return true: the failure came from the known id of a table that is not there any more, and the
   *     operation should go on at once with the id that the name has now
   */
  boolean handled(@Nullable Location location, AttemptException failure) {
    if (location != null && failure.refreshesLocation()) {
      locations.forget(location);
    }
    String id = used;
    if (failure.code() != ErrorCode.UNKNOWN_TABLE || id == null || refreshed) {
      return false;
    }
    locations.forgetTable(table, id);
    refreshed = true;
    return wasCached;
  }

  /** The failure with the tablet it happened at. */
  static AttemptException at(@Nullable Location location, AttemptException failure) {
    return location == null ? failure : failure.at(location.tabletId() + " " + location.extent());
  }
}
