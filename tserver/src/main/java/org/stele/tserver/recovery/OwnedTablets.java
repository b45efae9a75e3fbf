package org.stele.tserver.recovery;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.coordinator.TabletStatus;
import org.stele.tserver.coordinator.TabletStatus.State;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletExtent;

/**
 * The tablets that were given to this server, open or not: one entry from the coordinator's command
 * to the closing. Thread-safe, never blocks.
 */
public final class OwnedTablets {
  private final ConcurrentMap<String, OwnedTablet> byId = new ConcurrentHashMap<>();

  @Nullable OwnedTablet get(String tabletId) {
    return byId.get(tabletId);
  }

  /** A tablet that is to be opened; null: it is there already. */
  @Nullable OwnedTablet add(String tabletId) {
    OwnedTablet added = new OwnedTablet(tabletId);
    return byId.putIfAbsent(tabletId, added) == null ? added : null;
  }

  void remove(OwnedTablet owner) {
    byId.remove(owner.tabletId(), owner);
  }

  /** How each of them is, by id. */
  public Map<String, TabletStatus> statuses() {
    Map<String, TabletStatus> statuses = new TreeMap<>();
    byId.values().forEach(owner -> statuses.put(owner.tabletId(), status(owner)));
    return statuses;
  }

  private static TabletStatus status(OwnedTablet owner) {
    Tablet tablet = owner.tablet();
    if (tablet != null) {
      String reason = tablet.failure();
      return new TabletStatus(State.valueOf(tablet.state().name()), reason == null ? "" : reason);
    }
    SteleException failure = owner.failure();
    boolean damaged = failure != null && failure.code() == ErrorCode.CORRUPT;
    return new TabletStatus(
        damaged ? State.FAILED : State.OPENING,
        failure == null ? "" : String.valueOf(failure.getMessage()));
  }

  /** Why a tablet is not open; null if it is open or not this server's. */
  public @Nullable SteleException failureOf(String tabletId) {
    OwnedTablet owner = byId.get(tabletId);
    return owner == null ? null : owner.failure();
  }

  /** Why the tablet that has a row is not open; null if it is open or not this server's. */
  public @Nullable SteleException failureAt(String tableId, Bytes row) {
    for (OwnedTablet owner : byId.values()) {
      SteleException failure = owner.failure();
      if (failure != null) {
        TabletRecord record = owner.record();
        TabletExtent extent =
            new TabletExtent(record.tableId(), record.previousEndRow(), record.endRow());
        if (record.tableId().equals(tableId) && extent.contains(row)) {
          return failure;
        }
      }
    }
    return null;
  }
}
