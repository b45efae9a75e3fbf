package org.stele.tserver.tablet;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.tserver.write.WriteTarget;
import org.stele.tserver.write.WriteTargets;

/**
 * The tablets of this server: by table and row for reads and writes, by id for commands. Reads are
 * lock-free and allocate nothing: they see one immutable snapshot, which each change replaces.
 * Thread-safe.
 */
public final class TabletMap implements WriteTargets {
  private final Map<String, Tablet> byId = new ConcurrentHashMap<>();
  private volatile Map<String, TableTablets> byTable = Map.of();

  /**
   * Adds a tablet in any state.
   *
   * @throws IllegalStateException if its id is taken or its rows overlap those of another
   */
  public synchronized void add(Tablet tablet) {
    if (byId.containsKey(tablet.tabletId())) {
      throw new IllegalStateException(tablet + " is here already");
    }
    Map<String, TableTablets> tables = new HashMap<>(byTable);
    tables.merge(tablet.tableId(), TableTablets.of(tablet), (before, added) -> before.with(tablet));
    byTable = tables;
    byId.put(tablet.tabletId(), tablet);
  }

  /** Removes a tablet; nothing happens if it is not there. */
  public synchronized void remove(Tablet tablet) {
    if (byId.get(tablet.tabletId()) != tablet) {
      return;
    }
    Map<String, TableTablets> tables = new HashMap<>(byTable);
    tables.computeIfPresent(tablet.tableId(), (id, before) -> before.without(tablet));
    byTable = tables;
    byId.remove(tablet.tabletId());
  }

  /** The tablet that has the row, in whatever state; null if it is not here. */
  public @Nullable Tablet find(String tableId, byte[] row, int offset, int length) {
    TableTablets tablets = byTable.get(tableId);
    return tablets == null ? null : tablets.find(row, offset, length);
  }

  @Override
  public @Nullable WriteTarget find(String tableId, Bytes row) {
    Tablet tablet = find(tableId, row.unsafeArray(), 0, row.length());
    return tablet != null && tablet.takesWrites() ? tablet : null;
  }

  /**
   * The tablet with the first cells at or after an encoded key; null if it is not here.
   *
   * @param key empty: the first tablet of the table
   */
  public @Nullable Tablet findByKey(String tableId, byte[] key) {
    TableTablets tablets = byTable.get(tableId);
    return tablets == null ? null : tablets.findByKey(key);
  }

  public @Nullable Tablet get(String tabletId) {
    return byId.get(tabletId);
  }

  /** All tablets, in no order: a snapshot. */
  public Collection<Tablet> all() {
    return List.copyOf(byId.values());
  }

  public int size() {
    return byId.size();
  }

  /**
   * The tablets of one table in order of their rows. A change copies three arrays and computes
   * nothing anew, so that a table of many tablets is opened in little time.
   */
  private static final class TableTablets {
    private final Tablet[] sorted;
    private final @Nullable Bytes[] endRows;
    private final byte[] @Nullable [] upperKeys;

    private TableTablets(
        Tablet[] sorted, @Nullable Bytes[] endRows, byte[] @Nullable [] upperKeys) {
      this.sorted = sorted;
      this.endRows = endRows;
      this.upperKeys = upperKeys;
    }

    static TableTablets of(Tablet only) {
      return new TableTablets(
          new Tablet[] {only},
          new @Nullable Bytes[] {only.extent().endRow()},
          new byte[] @Nullable [] {only.extent().upperKey()});
    }

    TableTablets with(Tablet added) {
      int at = indexOf(added.extent());
      Tablet[] nextSorted = withRoom(sorted, at);
      @Nullable Bytes[] nextEndRows = withRoom(endRows, at);
      byte[] @Nullable [] nextUpperKeys = withRoom(upperKeys, at);
      nextSorted[at] = added;
      nextEndRows[at] = added.extent().endRow();
      nextUpperKeys[at] = added.extent().upperKey();
      TableTablets tablets = new TableTablets(nextSorted, nextEndRows, nextUpperKeys);
      tablets.check(at, added);
      return tablets;
    }

    /** A copy with one place more, at an index, which the caller fills. */
    private static <T extends @Nullable Object> T[] withRoom(T[] array, int at) {
      T[] next = Arrays.copyOf(array, array.length + 1);
      System.arraycopy(array, at, next, at + 1, array.length - at);
      return next;
    }

    private static <T extends @Nullable Object> T[] removed(T[] array, int at) {
      T[] next = Arrays.copyOf(array, array.length - 1);
      System.arraycopy(array, at + 1, next, at, next.length - at);
      return next;
    }

    private int indexOf(TabletExtent extent) {
      Bytes end = extent.endRow();
      return end == null ? sorted.length : firstAtOrAfter(end.unsafeArray(), 0, end.length());
    }

    /** The tablets before and behind {@code added} must have other rows. */
    private void check(int at, Tablet added) {
      if (at > 0) {
        checkOrder(sorted[at - 1], added);
      }
      if (at + 1 < sorted.length) {
        checkOrder(added, sorted[at + 1]);
      }
    }

    private static void checkOrder(Tablet lower, Tablet upper) {
      Bytes end = lower.extent().endRow();
      Bytes start = upper.extent().previousEndRow();
      if (end == null || start == null || end.compareTo(start) > 0) {
        throw new IllegalStateException(lower + " and " + upper + " overlap");
      }
    }

    @Nullable TableTablets without(Tablet removed) {
      int at = Arrays.asList(sorted).indexOf(removed);
      return sorted.length == 1
          ? null
          : new TableTablets(removed(sorted, at), removed(endRows, at), removed(upperKeys, at));
    }

    /** Index of the first tablet whose end row is at or after the row. */
    private int firstAtOrAfter(byte[] row, int offset, int length) {
      int low = 0;
      int high = endRows.length;
      while (low < high) {
        int middle = (low + high) >>> 1;
        Bytes end = endRows[middle];
        if (end != null && TabletExtent.compare(row, offset, length, end) > 0) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }

    @Nullable Tablet find(byte[] row, int offset, int length) {
      int at = firstAtOrAfter(row, offset, length);
      if (at == sorted.length) {
        return null;
      }
      Tablet tablet = sorted[at];
      return tablet.extent().contains(row, offset, length) ? tablet : null;
    }

    @Nullable Tablet findByKey(byte[] key) {
      int low = 0;
      int high = upperKeys.length;
      while (low < high) {
        int middle = (low + high) >>> 1;
        byte[] upper = upperKeys[middle];
        if (upper != null && Arrays.compareUnsigned(upper, key) <= 0) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (low == sorted.length) {
        return null;
      }
      Tablet tablet = sorted[low];
      return Arrays.compareUnsigned(tablet.extent().lowerKey(), key) <= 0 ? tablet : null;
    }
  }
}
