package org.stele.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.stele.client.location.MetadataSchema;
import org.stele.client.location.TabletRow;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.CallLimits;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Row;

/** Tables and their tablets as the metadata table has them now. Thread-safe. */
final class TableCatalog {
  private static final String DELETING = "deleting";

  private final ClientCore core;

  TableCatalog(ClientCore core) {
    this.core = core;
  }

  /** All tables but the metadata table, by name. */
  List<TableDescription> list() {
    Map<Bytes, List<Cell>> rows = new HashMap<>();
    try (Scanner scanner =
        new ScannerBuilder(core, MetadataSchema.TABLE_NAME)
            .range(MetadataSchema.tableRows())
            .open()) {
      for (Cell cell : scanner) {
        rows.computeIfAbsent(cell.row(), row -> new ArrayList<>()).add(cell);
      }
    }
    return rows.entrySet().stream()
        .map(entry -> description(new Row(entry.getKey(), entry.getValue())))
        .flatMap(Optional::stream)
        .sorted(Comparator.comparing(TableDescription::name))
        .toList();
  }

  Optional<TableDescription> find(String name) {
    if (name.equals(MetadataSchema.TABLE_NAME)) {
      return Optional.of(new TableDescription(name, MetadataSchema.TABLE_ID, Map.of()));
    }
    return core.run(
        () -> "description of table " + name,
        false,
        core.deadlineFromNow(),
        attempts -> {
          CallLimits limits = core.limits(attempts);
          String id =
              MetadataRows.text(
                  core.locations().metadataRow(MetadataSchema.nameRow(name), limits),
                  MetadataSchema.TABLE_ID_COLUMN);
          return id == null
              ? Optional.empty()
              : description(core.locations().metadataRow(MetadataSchema.tableRow(id), limits))
                  .filter(table -> table.name().equals(name));
        });
  }

  private static Optional<TableDescription> description(Row row) {
    String name = MetadataRows.text(row, MetadataSchema.TABLE_NAME_COLUMN);
    String state = MetadataRows.text(row, MetadataSchema.TABLE_STATE);
    if (name == null || DELETING.equals(state)) {
      return Optional.empty();
    }
    Map<String, String> settings = new HashMap<>();
    for (Cell cell : row) {
      if (cell.family().equals(MetadataSchema.SETTINGS)) {
        settings.put(cell.qualifier().toUtf8(), cell.value().toUtf8());
      }
    }
    return Optional.of(new TableDescription(name, MetadataSchema.tableIdOf(row.key()), settings));
  }

  /** The tablets of a table in order. */
  List<TabletInfo> tablets(String name) {
    return core.run(
        () -> "listing of the tablets of table " + name,
        false,
        core.deadlineFromNow(),
        attempts -> {
          TableFreshness freshness = new TableFreshness(core.locations(), name);
          while (true) {
            try {
              CallLimits limits = core.limits(attempts);
              List<TabletInfo> tablets = new ArrayList<>();
              for (TabletRow row :
                  core.locations().readTablets(freshness.tableId(limits), limits)) {
                tablets.add(
                    new TabletInfo(
                        row.tabletId(), row.extent(), row.session(), row.address(), row.epoch()));
              }
              return tablets;
            } catch (AttemptException e) {
              if (!freshness.handled(null, e)) {
                throw e;
              }
            }
          }
        });
  }
}
