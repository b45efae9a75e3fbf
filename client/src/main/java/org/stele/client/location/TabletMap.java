package org.stele.client.location;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;

/**
 * Known locations of the tablets of one table. No two overlap: what comes later displaces what it
 * overlaps with. Thread-safe; reading takes no lock.
 */
public final class TabletMap {
  /** By end row, without the last tablet. */
  private final ConcurrentSkipListMap<Bytes, Location> byEndRow = new ConcurrentSkipListMap<>();

  /** The tablet without an end row. */
  private volatile @Nullable Location last;

  /** The tablet that has the row; null if it is not known. */
  public @Nullable Location find(Bytes row) {
    Map.Entry<Bytes, Location> entry = byEndRow.ceilingEntry(row);
    Location candidate = entry == null ? last : entry.getValue();
    return candidate != null && candidate.extent().contains(row) ? candidate : null;
  }

  public synchronized void add(Location location) {
    removeOverlapping(location);
    Bytes endRow = location.extent().endRow();
    if (endRow == null) {
      last = location;
    } else {
      byEndRow.put(endRow, location);
    }
  }

  @GuardedBy("this")
  private void removeOverlapping(Location location) {
    Bytes previous = location.extent().previousEndRow();
    Map<Bytes, Location> above = previous == null ? byEndRow : byEndRow.tailMap(previous, false);
    for (Iterator<Location> all = above.values().iterator(); all.hasNext(); ) {
      if (!all.next().extent().overlaps(location.extent())) {
        break;
      }
      all.remove();
    }
    Location lastNow = last;
    if (lastNow != null && lastNow.extent().overlaps(location.extent())) {
      last = null;
    }
  }

  /** Forgets a location, if it is still the one that is known. */
  public synchronized void remove(Location location) {
    Bytes endRow = location.extent().endRow();
    if (endRow != null) {
      byEndRow.remove(endRow, location);
    } else if (location.equals(last)) {
      last = null;
    }
  }

  /** How many are known. */
  int size() {
    return byEndRow.size() + (last == null ? 0 : 1);
  }
}
