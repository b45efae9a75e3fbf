package org.stele.tserver.wal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.tserver.wal.ExtentIndex.Extent;

/**
 * Reads a whole log once, from front to back, and says where its records end and what is damaged.
 *
 * <p><b>Torn tail or damage?</b> Bytes that do not verify are a <i>hole</i>: from the first bad
 * position to the next group header that does verify, or to the end. A hole is damage if somebody
 * knew its first byte to be on the disk: a group header behind it (in {@code syncedUpTo}) or a
 * later log. The first hole that nobody knew is the torn tail: the log ends there, whatever comes
 * behind. Zeros where a group should begin are a hole like any other, so a preallocated tail is the
 * normal end, and zeros that a lost write left in the middle are not.
 *
 * <p>Bounded memory: the largest record, and the index.
 */
final class LogScan {
  private final LogWindow window;
  private final LogHeader header;
  private final LogChecksum checksum;
  private final Visitor visitor;

  private final List<Hole> holes = new ArrayList<>();
  private final List<Segment> segments = new ArrayList<>();
  private ExtentIndex segment = new ExtentIndex();
  private long claimed;
  private long lowestLive;
  private long position;
  private boolean indexReached;

  /** Bytes [start, end) that do not verify. */
  record Hole(long start, long end, String what) {}

  private record Segment(long start, ExtentIndex records) {}

  /**
   * @param records where the records before {@code end} lie
   * @param damage holes that were once on the disk
   * @param end where the records end
   * @param contentEnd behind the last byte that is not zero: between {@code end} and this lies the
   *     torn tail
   * @param lowestLive the highest number that this log knew to be the lowest live one
   */
  record Result(
      ExtentIndex records, List<Hole> damage, long end, long contentEnd, long lowestLive) {
    long tornBytes() {
      return Math.max(0, contentEnd - end);
    }
  }

  /** Sees what the scan finds, in order; also records behind the torn tail's beginning. */
  interface Visitor {
    default void group(GroupHeader group) {}

    default void record(LogRecord record) throws IOException {}

    default void hole(Hole hole) {}
  }

  private static final Visitor NOBODY = new Visitor() {};

  private LogScan(LogWindow window, LogHeader header, long claimed, Visitor visitor) {
    this.window = window;
    this.header = header;
    this.checksum = new LogChecksum(header.salt());
    this.claimed = Math.max(claimed, header.length());
    this.lowestLive = header.lowestLive();
    this.visitor = visitor;
  }

  /**
   * @param window limited to the acknowledged length, if a later log says it
   * @param claimed bytes that later logs know to be on the disk; 0 if there are none
   */
  static Result scan(LogWindow window, LogHeader header, long claimed) throws IOException {
    return scan(window, header, claimed, NOBODY);
  }

  static Result scan(LogWindow window, LogHeader header, long claimed, Visitor visitor)
      throws IOException {
    LogScan scan = new LogScan(window, header, claimed, visitor);
    scan.readGroups();
    return scan.result();
  }

  private void readGroups() throws IOException {
    position = header.length();
    segments.add(new Segment(position, segment));
    while (position < window.limit() && !indexReached) {
      GroupHeader group = window.groupAt(position, checksum);
      if (group == null) {
        long next = window.findGroup(position + 1, checksum);
        hole(position, next < 0 ? window.limit() : next, "no group header");
      } else {
        readGroup(group);
      }
    }
    if (!indexReached && position < claimed) {
      hole(position, claimed, "the file ends before");
    }
  }

  private void readGroup(GroupHeader group) throws IOException {
    claimed = Math.max(claimed, group.syncedUpTo());
    lowestLive = Math.max(lowestLive, group.lowestLive());
    visitor.group(group);
    if (group.kind() == GroupHeader.INDEX) {
      indexReached = true;
      return;
    }
    position = group.bodyStart();
    long end = Math.min(group.end(), window.limit());
    while (position < end) {
      LogRecord found = window.recordAt(position, end, checksum);
      if (found == null) {
        skipRecord(end);
      } else {
        segment.add(found.tabletId(), found.epoch(), extentOf(found));
        visitor.record(found);
        position += found.length();
      }
    }
    if (end < group.end()) {
      hole(end, end, "the file ends within a group");
    }
  }

  private static Extent extentOf(LogRecord found) {
    return new Extent(
        found.offset(),
        found.offset() + found.length(),
        found.firstSequence(),
        found.lastSequence());
  }

  /** Only this record is lost if the next one stands where it should. */
  private void skipRecord(long groupEnd) throws IOException {
    int length = window.recordLengthAt(position, groupEnd);
    boolean nextIsGood =
        length > 0 && window.recordAt(position + length, groupEnd, checksum) != null;
    hole(
        position,
        nextIsGood ? position + length : groupEnd,
        "a record with a wrong checksum or length");
  }

  private void hole(long start, long end, String what) {
    Hole hole = new Hole(start, end, what);
    holes.add(hole);
    visitor.hole(hole);
    position = end;
    segment = new ExtentIndex();
    segments.add(new Segment(end, segment));
  }

  private Result result() throws IOException {
    List<Hole> damage = new ArrayList<>();
    @Nullable Hole torn = null;
    for (Hole hole : holes) {
      if (hole.start >= claimed) {
        torn = hole;
        break;
      }
      damage.add(hole);
    }
    long end = torn == null ? position : torn.start;
    ExtentIndex records = new ExtentIndex();
    for (Segment found : segments) {
      if (found.start < end) {
        records.barrier(found.start);
        records.addAll(found.records);
      }
    }
    long contentEnd = torn == null ? end : Math.max(end, window.endOfContent());
    return new Result(records, damage, end, contentEnd, lowestLive);
  }
}
