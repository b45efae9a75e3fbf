package org.stele.tserver.coordinator;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.server.metadata.TableRecord;
import org.stele.server.metadata.TabletRecord;

/**
 * The metadata as the coordinator knows it: it alone writes tables and locations, so what it has
 * read once and changed itself is true, until a batch of it fails. Files and log references are as
 * they were when read. One thread.
 */
final class ClusterMirror {
  private final Map<String, TableRecord> tables = new HashMap<>();
  private final TreeMap<Bytes, TabletRecord> tablets = new TreeMap<>();

  void load(List<TableRecord> newTables, List<TabletRecord> newTablets) {
    tables.clear();
    tablets.clear();
    newTables.forEach(this::put);
    newTablets.forEach(this::put);
  }

  void put(TableRecord table) {
    tables.put(table.id(), table);
  }

  void put(TabletRecord tablet) {
    tablets.put(tablet.row(), tablet);
  }

  void removeTable(String tableId) {
    tables.remove(tableId);
  }

  void removeTablets(Collection<TabletRecord> removed) {
    removed.forEach(tablet -> tablets.remove(tablet.row()));
  }

  /** In the order of tables and rows. */
  Collection<TabletRecord> tablets() {
    return tablets.values();
  }

  List<TabletRecord> tabletsOf(String tableId) {
    return new ArrayList<>(
        tablets
            .subMap(
                MetadataSchema.tabletRow(tableId, Bytes.EMPTY),
                true,
                MetadataSchema.tabletRow(tableId, null),
                true)
            .values());
  }

  @Nullable TableRecord table(String tableId) {
    return tables.get(tableId);
  }

  /** The table that has the name; one that is being deleted has none. */
  @Nullable TableRecord tableNamed(String name) {
    return tables.values().stream()
        .filter(table -> table.name().equals(name) && isOnline(table))
        .findFirst()
        .orElse(null);
  }

  List<TableRecord> deleting() {
    return tables.values().stream().filter(table -> !isOnline(table)).toList();
  }

  boolean isOnline(TabletRecord tablet) {
    TableRecord table = tables.get(tablet.tableId());
    return table != null && isOnline(table);
  }

  private static boolean isOnline(TableRecord table) {
    return table.state() == TableRecord.State.ONLINE;
  }

  /** The sessions that tablets are assigned to. */
  Set<String> sessions() {
    Set<String> sessions = new HashSet<>();
    for (TabletRecord tablet : tablets.values()) {
      String session = tablet.session();
      if (session != null) {
        sessions.add(session);
      }
    }
    return sessions;
  }

  /** How many tablets each session has. */
  Map<String, Integer> load() {
    Map<String, Integer> load = new HashMap<>();
    for (TabletRecord tablet : tablets.values()) {
      String session = tablet.session();
      if (session != null) {
        load.merge(session, 1, Integer::sum);
      }
    }
    return load;
  }
}
