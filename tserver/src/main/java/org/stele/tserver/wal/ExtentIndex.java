package org.stele.tserver.wal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.MalformedBytesException;

/**
 * Where in one log the records of each tablet lie: so that a tablet reads only its own. Records
 * that follow each other are one extent; with many small ones extents also span the records of
 * others in between, so that there are never much more than {@link #MAX_EXTENTS}. No extent reaches
 * over a {@linkplain #barrier barrier}. Not thread-safe.
 */
final class ExtentIndex {
  static final int MAX_EXTENTS = 1 << 16;

  private static final int FIRST_WIDER_GAP = 4 << 10;

  private static final Comparator<Stay> ORDER =
      Comparator.comparing(Stay::tabletId).thenComparingInt(Stay::epoch);

  private final Map<Stay, List<Extent>> extents = new HashMap<>();
  private final TreeSet<Long> barriers = new TreeSet<>();
  private int count;

  /** Extents of one tablet at most so far apart become one. */
  private long gap = GroupHeader.LENGTH;

  /** A tablet during one assignment to the server. */
  record Stay(String tabletId, int epoch) {}

  /** The bytes [start, end) of the log, with the sequences of the tablet's records in it. */
  record Extent(long start, long end, long firstSequence, long lastSequence) {
    Extent joined(Extent next) {
      return new Extent(
          start,
          next.end,
          Long.compareUnsigned(firstSequence, next.firstSequence) <= 0
              ? firstSequence
              : next.firstSequence,
          Long.compareUnsigned(lastSequence, next.lastSequence) >= 0
              ? lastSequence
              : next.lastSequence);
    }
  }

  boolean isEmpty() {
    return extents.isEmpty();
  }

  int size() {
    return count;
  }

  Set<Stay> stays() {
    return extents.keySet();
  }

  Set<String> tablets() {
    Set<String> tablets = new TreeSet<>();
    extents.keySet().forEach(stay -> tablets.add(stay.tabletId()));
    return tablets;
  }

  List<Extent> extents(Stay stay) {
    return extents.getOrDefault(stay, List.of());
  }

  /** Adds a record that lies behind all that were added before. */
  void add(String tabletId, int epoch, Extent record) {
    List<Extent> list =
        extents.computeIfAbsent(new Stay(tabletId, epoch), stay -> new ArrayList<>());
    append(list, record);
    while (count > MAX_EXTENTS && gap < Integer.MAX_VALUE) {
      widen();
    }
  }

  /**
   * What lies before this position is never joined with what lies behind it: between them is
   * something that cannot be read.
   */
  void barrier(long position) {
    barriers.add(position);
  }

  /** Adds all of an index whose records lie behind all that were added before. */
  void addAll(ExtentIndex later) {
    later.extents.forEach(
        (stay, list) -> list.forEach(extent -> add(stay.tabletId(), stay.epoch(), extent)));
  }

  private void append(List<Extent> list, Extent extent) {
    int last = list.size() - 1;
    if (last >= 0 && mayJoin(list.get(last), extent)) {
      list.set(last, list.get(last).joined(extent));
    } else {
      list.add(extent);
      count++;
    }
  }

  private boolean mayJoin(Extent before, Extent next) {
    if (next.start - before.end > gap) {
      return false;
    }
    Long barrier = barriers.floor(next.start);
    return barrier == null || barrier < before.end;
  }

  private void widen() {
    gap = Math.max(FIRST_WIDER_GAP, 2 * gap);
    count = 0;
    for (Map.Entry<Stay, List<Extent>> entry : extents.entrySet()) {
      List<Extent> joined = new ArrayList<>();
      entry.getValue().forEach(extent -> append(joined, extent));
      entry.setValue(joined);
    }
  }

  void encode(ByteWriter out) {
    out.writeVarint(extents.size());
    Map<Stay, List<Extent>> ordered = new TreeMap<>(ORDER);
    ordered.putAll(extents);
    ordered.forEach(
        (stay, list) -> {
          LogHeader.writeText(out, stay.tabletId());
          out.writeVarint(stay.epoch()).writeVarint(list.size());
          long end = 0;
          for (Extent extent : list) {
            out.writeVarlong(extent.start - end).writeVarlong(extent.end - extent.start);
            out.writeLong(extent.firstSequence);
            out.writeVarlong(extent.lastSequence - extent.firstSequence);
            end = extent.end;
          }
        });
  }

  /**
   * Decodes an index of a log whose records lie in [{@code start}, {@code end}).
   *
   * @throws MalformedBytesException if it is none
   */
  static ExtentIndex decode(ByteReader in, long start, long end) {
    ExtentIndex index = new ExtentIndex();
    int stays = in.readVarint();
    for (int i = 0; i < stays; i++) {
      Stay stay = new Stay(LogHeader.readText(in), in.readVarint());
      int size = in.readVarint();
      List<Extent> list = new ArrayList<>();
      long at = 0;
      for (int j = 0; j < size; j++) {
        long from = at + in.readVarlong();
        at = from + in.readVarlong();
        long first = in.readLong();
        list.add(new Extent(from, at, first, first + in.readVarlong()));
        if (from < start || at <= from || at > end) {
          throw new MalformedBytesException("extent [" + from + ", " + at + ") is out of its log");
        }
      }
      index.count += size;
      index.extents.put(stay, list);
    }
    return index;
  }
}
