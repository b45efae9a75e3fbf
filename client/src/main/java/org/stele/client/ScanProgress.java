package org.stele.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.ScanAnswer;
import org.stele.client.rpc.ScanQuery;
import org.stele.core.data.Bound;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.DataLimits;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Range;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * How far a scan is: makes the query for the next batch and takes its answer. Knows nothing of
 * servers and attempts. Used by one thread at a time.
 *
 * <p>Two marks say where the scan goes on. {@code rest} is what lies behind the last cell given out
 * (or behind the tablets that are done): from there a batch can always be begun anew, at whatever
 * server. {@code position} is the server's own mark, at or behind that; it is dropped when the
 * tablet has to be located again. The scan never looks at how full a batch is: a tablet is done
 * when the answer says so, and the next one begins where <em>the answer's</em> extent ends, not
 * where a known location did.
 *
 * <p>A row that comes in parts is kept back until it is whole; if its parts can no longer be read
 * at one moment, it is begun anew.
 */
final class ScanProgress {
  /** The largest row that is collected. */
  static final long MAX_ROW_BYTES = 8L * DataLimits.MAX_MUTATION_BYTES;

  private final ScannerBuilder.Scan scan;
  private final byte @Nullable [] upperKey;

  private Range rest;

  /** A row of the tablet at which {@link #rest} begins. */
  private Bytes row;

  private @Nullable Bytes position;
  private @Nullable Long readSequence;

  /** The parts, so far, of the row at which {@link #rest} begins. */
  private List<Cell> rowParts = new ArrayList<>();

  private long rowPartsBytes;
  private long left;
  private boolean done;

  ScanProgress(ScannerBuilder.Scan scan) {
    this.scan = scan;
    this.upperKey = scan.range().upperKey();
    this.rest = scan.range();
    Bytes startRow = scan.range().startRow();
    this.row = startRow == null ? Bytes.EMPTY : startRow;
    this.left = scan.limit();
    this.done = upperKey != null && Arrays.compareUnsigned(rest.lowerKey(), upperKey) >= 0;
  }

  /** Whether all cells were given out. */
  boolean isDone() {
    return done;
  }

  /** Whose tablet is to be asked. */
  Bytes row() {
    return row;
  }

  /** Where the scan is, for messages. */
  String place() {
    return row.isEmpty() ? "the first row" : "row " + row;
  }

  ScanQuery query(String tableId) {
    int cells = scan.batchCells();
    if (left < Integer.MAX_VALUE) {
      cells = cells == 0 ? (int) left : (int) Math.min(left, cells);
    }
    return new ScanQuery(
        tableId,
        rest,
        scan.columns(),
        0,
        cells,
        scan.batchBytes(),
        scan.bypassCache(),
        position,
        readSequence);
  }

  /** The tablet is to be located again: forgets what only its old server can go on from. */
  void relocate() {
    position = null;
    readSequence = null;
    dropRowParts();
  }

  private void dropRowParts() {
    rowParts = new ArrayList<>();
    rowPartsBytes = 0;
  }

  /**
   * Takes the answer to {@link #query}.
   *
   * @return the cells to give out, maybe none
   * @throws AttemptException if the answer is not one to this query
   */
  List<Cell> accept(String server, ScanAnswer answer) {
    if (answer.viewChanged()) {
      relocate();
      return List.of();
    }
    if (position == null && !answer.extent().contains(row)) {
      throw AttemptException.replied(
          server,
          new SteleException(
              ErrorCode.NOT_SERVING,
              place() + " was asked for, " + answer.extent() + " was served"));
    }
    List<Cell> given = limited(whole(answer));
    if (!given.isEmpty()) {
      goOnBehind(given.get(given.size() - 1));
    }
    if (left == 0) {
      done = true;
    } else if (answer.atEnd()) {
      goOnAfterTablet(answer.extent().endRow());
    } else {
      position = requirePosition(server, answer);
      readSequence = answer.rowContinues() ? answer.readSequence() : null;
    }
    return given;
  }

  /** Joins the parts kept back with the new cells, and keeps back a row that goes on. */
  private List<Cell> whole(ScanAnswer answer) {
    if (!scan.isolateRows() || (rowParts.isEmpty() && !answer.rowContinues())) {
      return answer.cells();
    }
    List<Cell> all = rowParts;
    all.addAll(answer.cells());
    int cut = all.size();
    if (answer.rowContinues() && cut > 0 && cut < left) {
      Bytes unfinished = all.get(cut - 1).row();
      while (cut > 0 && all.get(cut - 1).row().equals(unfinished)) {
        cut--;
      }
    }
    List<Cell> given = all.subList(0, cut);
    if (cut > 0 || rowPartsBytes > 0 || answer.rowContinues()) {
      keepBack(new ArrayList<>(all.subList(cut, all.size())));
    }
    return given;
  }

  private void keepBack(List<Cell> parts) {
    rowParts = parts;
    rowPartsBytes = 0;
    for (Cell cell : parts) {
      rowPartsBytes +=
          cell.row().length()
              + cell.family().length()
              + cell.qualifier().length()
              + cell.visibility().length()
              + cell.value().length();
    }
    if (rowPartsBytes > MAX_ROW_BYTES) {
      throw new SteleException(
          ErrorCode.TOO_LARGE,
          "row "
              + parts.get(0).row()
              + " has more than "
              + MAX_ROW_BYTES
              + " bytes, too much to be given as of one moment: scan without isolateRows");
    }
  }

  private List<Cell> limited(List<Cell> cells) {
    List<Cell> given = cells.size() <= left ? cells : cells.subList(0, (int) left);
    left -= given.size();
    return given;
  }

  private void goOnBehind(Cell last) {
    row = last.row();
    rest =
        new Range(
            new Bound(
                List.of(last.row(), last.family(), last.qualifier(), last.visibility()),
                last.timestamp(),
                false),
            scan.range().stop());
  }

  private void goOnAfterTablet(@Nullable Bytes endRow) {
    position = null;
    readSequence = null;
    if (endRow == null) {
      done = true;
      return;
    }
    Bytes next = KeyCodec.rowAfter(endRow);
    if (upperKey != null && Arrays.compareUnsigned(KeyCodec.lowerBound(next), upperKey) >= 0) {
      done = true;
      return;
    }
    row = next;
    rest = new Range(Bound.row(next, true), scan.range().stop());
  }

  private static Bytes requirePosition(String server, ScanAnswer answer) {
    Bytes position = answer.position();
    if (position == null) {
      throw AttemptException.lost(
          server, "a batch of " + answer.extent() + " is not at its end and has no position", null);
    }
    return position;
  }
}
