package org.stele.tserver.scan;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.cursor.MergingCursor;
import org.stele.core.cursor.VersionCursor;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.Sequence;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.settings.StandardSettings;
import org.stele.core.time.Clock;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.tserver.read.ReadFailures;
import org.stele.tserver.read.ResumeKey;
import org.stele.tserver.read.ViewCursors;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletMap;
import org.stele.tserver.tablet.TabletView;

/**
 * Reads one batch of a scan; nothing is kept on the server between two of them.
 *
 * <p>A batch is of one tablet and one sequence. It ends between rows, or within the only row that
 * it has; then the next one, which says at which sequence the row was begun, reads the rest of that
 * row as of that sequence and ends with it. If the row cannot be read any more as it was then (a
 * flush or compaction has dropped versions since, or the tablet was opened anew) the answer says
 * {@code viewChanged} and has no cells.
 *
 * <p>Thread-safe; reads files, so it is called on threads that may.
 */
public final class ScanStage {
  /** A buffer larger than this is not kept for the thread's next scan. */
  private static final int KEPT_BUFFER_BYTES = 4 << 20;

  /** A batch ends after this time if others wait for its thread; the rest goes to the back. */
  private static final long HURRIED_NANOS = 10_000_000;

  private final TabletMap tablets;
  private final BooleanSupplier leaseHeld;
  private final Clock clock;
  private final ScanLimits limits;
  private final ScanCounters counters = new ScanCounters();
  private final ThreadLocal<PackedCellsWriter> buffers =
      ThreadLocal.withInitial(PackedCellsWriter::new);

  /**
   * @param leaseHeld whether this server is sure to own its tablets
   */
  public ScanStage(TabletMap tablets, BooleanSupplier leaseHeld, Clock clock, ScanLimits limits) {
    this.tablets = tablets;
    this.leaseHeld = leaseHeld;
    this.clock = clock;
    this.limits = limits;
  }

  public ScanCounters counters() {
    return counters;
  }

  /**
   * Answers; the cells are this thread's and good until its next scan.
   *
   * @param othersWait whether others wait for this thread, asked again and again
   * @throws SteleException NOT_SERVING, CORRUPT, UNAVAILABLE, BAD_REQUEST
   */
  public ScanAnswer scan(ScanQuery query, BooleanSupplier othersWait) {
    byte[] position = query.position();
    byte[] from =
        position != null && Arrays.compareUnsigned(position, query.lowerKey()) > 0
            ? position
            : query.lowerKey();
    Tablet tablet = tablets.findByKey(query.tableId(), from);
    if (tablet == null) {
      throw new SteleException(
          ErrorCode.NOT_SERVING,
          "the tablet of table " + query.tableId() + " where the scan goes on is not here");
    }
    try (TabletView view = tablet.openView()) {
      if (!leaseHeld.getAsBoolean()) {
        throw ReadFailures.leaseLost(tablet);
      }
      ScanAnswer answer = read(view, query, from, othersWait);
      count(tablet, answer);
      return answer;
    } catch (IOException e) {
      throw ReadFailures.of(tablet, e);
    }
  }

  private void count(Tablet tablet, ScanAnswer answer) {
    tablet.counters().scanBatches().increment();
    counters.batches().increment();
    counters.cells().add(answer.cells().cells());
    counters.bytes().add(answer.cells().length());
    if (answer.viewChanged()) {
      counters.viewChanges().increment();
    }
  }

  private ScanAnswer read(TabletView view, ScanQuery query, byte[] from, BooleanSupplier othersWait)
      throws IOException {
    byte[] upper = lower(query.upperKey(), view.extent().upperKey());
    if (query.position() == null || query.readSequence() == 0 || !isWithinRow(from)) {
      return read(view, query, from, upper, view.readSequence(), othersWait);
    }
    if (!isReadable(view, query.readSequence())) {
      return new ScanAnswer(buffer(), view.extent(), false, null, false, view.readSequence(), true);
    }
    byte[] rowEnd = rowEnd(from);
    if (upper != null && Arrays.compareUnsigned(upper, rowEnd) <= 0) {
      return read(view, query, from, upper, query.readSequence(), othersWait);
    }
    ScanAnswer row = read(view, query, from, rowEnd, query.readSequence(), othersWait);
    return row.atEnd() ? goOnAfter(row, rowEnd) : row;
  }

  /** The row is at its end, but not the range. */
  private static ScanAnswer goOnAfter(ScanAnswer row, byte[] rowEnd) {
    return new ScanAnswer(
        row.cells(), row.extent(), false, rowEnd, false, row.readSequence(), false);
  }

  private static boolean isWithinRow(byte[] from) {
    return from[rowPartLength(from) - 1] == 1;
  }

  private static byte[] rowEnd(byte[] from) {
    return ResumeKey.afterRow(from, rowPartLength(from));
  }

  private static int rowPartLength(byte[] from) {
    try {
      return KeyCodec.partLength(from, 0, from.length);
    } catch (MalformedBytesException e) {
      throw new SteleException(
          ErrorCode.BAD_REQUEST, "the position of the scan is malformed: " + e.getMessage(), e);
    }
  }

  /** Whether the tablet still has all that was visible at a sequence, and exactly that. */
  private static boolean isReadable(TabletView view, long sequence) {
    return Long.compareUnsigned(sequence, view.oldestReadableSequence()) >= 0
        && Long.compareUnsigned(sequence, view.readSequence()) <= 0
        && Sequence.epoch(sequence) == Sequence.epoch(view.readSequence());
  }

  private static byte @Nullable [] lower(byte @Nullable [] a, byte @Nullable [] b) {
    if (a == null || b == null) {
      return a == null ? b : a;
    }
    return Arrays.compareUnsigned(a, b) <= 0 ? a : b;
  }

  private ScanAnswer read(
      TabletView view,
      ScanQuery query,
      byte[] from,
      byte @Nullable [] upper,
      long sequence,
      BooleanSupplier othersWait)
      throws IOException {
    PackedCellsWriter packed = buffer();
    ScanBatch batch =
        new ScanBatch(packed, query.maxRows(), query.maxCells(), query.plain(), maxBytes(query));
    ViewCursors sources = ViewCursors.all(view, !query.bypassCache());
    TimedCursor source =
        new TimedCursor(
            MergingCursor.of(sources.cursors()),
            from,
            clock,
            endNanos(query, limits.nanos()),
            endNanos(query, HURRIED_NANOS),
            othersWait);
    int versions = view.tablet().settings().get(StandardSettings.TABLE_VERSIONS);
    try (VersionCursor cells =
        VersionCursor.read(
            source, sequence, versions, query.columns(), sources.hasScopeDeletes())) {
      cells.stopBefore(upper);
      cells.seek(from);
      batch.fill(cells, source, upper);
    }
    return new ScanAnswer(
        packed,
        view.extent(),
        batch.atEnd(),
        batch.position(),
        batch.rowContinues(),
        sequence,
        false);
  }

  private int maxBytes(ScanQuery query) {
    return query.maxBytes() > 0 ? Math.min(query.maxBytes(), limits.bytes()) : limits.bytes();
  }

  private long endNanos(ScanQuery query, long nanos) {
    long now = clock.nanos();
    return now + Math.min(nanos, Math.max(0, query.deadlineNanos() - now));
  }

  private PackedCellsWriter buffer() {
    PackedCellsWriter buffer = buffers.get();
    if (buffer.array().length > KEPT_BUFFER_BYTES) {
      buffer = new PackedCellsWriter();
      buffers.set(buffer);
    }
    buffer.clear();
    return buffer;
  }
}
