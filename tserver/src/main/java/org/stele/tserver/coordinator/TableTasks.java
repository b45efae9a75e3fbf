package org.stele.tserver.coordinator;

import java.util.Comparator;
import java.util.List;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.TableRecord;
import org.stele.server.metadata.TabletRecord;

/**
 * Work on tables that changes neither tables nor locations, so that any server does it: it reads
 * the metadata and commands the tablets' servers. Thread-safe; every method may block for long.
 */
public final class TableTasks {
  private final MetadataStore store;
  private final TabletWork work;

  /** What is done to a tablet on its server; waits for it. Thread-safe. */
  public interface TabletWork {
    void flush(String address, String tabletId, long deadlineNanos);

    void compact(String address, String tabletId, long deadlineNanos);
  }

  public TableTasks(MetadataStore store, TabletWork work) {
    this.store = store;
    this.work = work;
  }

  /** The tables of users, by name; without those that are being deleted. */
  public List<TableRecord> tables() {
    return store.tables().stream()
        .filter(table -> table.state() == TableRecord.State.ONLINE)
        .sorted(Comparator.comparing(TableRecord::name))
        .toList();
  }

  public TableRecord table(String name) {
    return tables().stream()
        .filter(table -> table.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table " + name));
  }

  /** The tablets of a table from that with {@code row} on. */
  public List<TabletRecord> locate(String tableId, Bytes row, int limit) {
    List<TabletRecord> tablets = store.tabletsFrom(tableId, row);
    if (tablets.isEmpty()) {
      throw new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table with id " + tableId);
    }
    return tablets.subList(0, Math.min(limit, tablets.size()));
  }

  /** Returns when what was written to the table before is in sorted files. */
  public void flush(String name, long deadlineNanos) {
    forEachTablet(name, (address, tabletId) -> work.flush(address, tabletId, deadlineNanos));
  }

  /** Returns when every tablet of the table has at most one file. */
  public void compact(String name, long deadlineNanos) {
    forEachTablet(name, (address, tabletId) -> work.compact(address, tabletId, deadlineNanos));
  }

  /** One that fails does not keep the others from being done; the first failure is told. */
  private void forEachTablet(String name, Step step) {
    SteleException first = null;
    for (TabletRecord tablet : store.tablets(table(name).id())) {
      try {
        run(tablet, step);
      } catch (SteleException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  private static void run(TabletRecord tablet, Step step) {
    String address = tablet.address();
    if (address == null) {
      throw new SteleException(
          ErrorCode.UNAVAILABLE, "tablet " + tablet.tabletId() + " has no server now");
    }
    step.run(address, tablet.tabletId());
  }

  private interface Step {
    void run(String address, String tabletId);
  }
}
