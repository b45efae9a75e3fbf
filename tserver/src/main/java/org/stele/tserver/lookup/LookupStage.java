package org.stele.tserver.lookup;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.stele.core.cursor.VersionCursor;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.KeyCodec;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.tserver.read.ReadFailures;
import org.stele.tserver.read.ResumeKey;
import org.stele.tserver.read.RowCursors;
import org.stele.tserver.tablet.Tablet;
import org.stele.tserver.tablet.TabletMap;
import org.stele.tserver.tablet.TabletView;

/**
 * Looks up a row, or columns of it. Step by step:
 *
 * <pre>
 *   find       the tablet of the row in the {@link TabletMap}
 *   view       memtables and files at one sequence; then the server's lease is checked
 *   filter     files whose row range or filter rules the row out are not looked at
 *   search     index and data blocks in the cache, in place
 *   pack       cells go from the block into the answer
 * </pre>
 *
 * Thread-safe. On a selector thread it throws {@link org.stele.core.concurrent.WouldBlockException}
 * if a block is not in the cache; the lookup is then begun anew on a thread that may read files.
 * Nothing is kept of the attempt.
 */
public final class LookupStage {
  private static final int KEPT_KEY_BYTES = 4 << 10;

  private final TabletMap tablets;
  private final BooleanSupplier leaseHeld;
  private final int maxBytes;
  private final LookupCounters counters = new LookupCounters();
  private final ThreadLocal<Workspace> workspaces = ThreadLocal.withInitial(Workspace::new);

  /** What a thread uses for one lookup after the other; holds nothing large between two. */
  private static final class Workspace {
    final LookupAnswer answer = new LookupAnswer();
    final RowCursors cursors = new RowCursors();
    ByteWriter key = new ByteWriter(KEPT_KEY_BYTES);

    // Around what is looked up; as long as those of the last lookup most of the time.
    byte[] lower = {};
    byte[] upper = {};

    void begin() {
      answer.clear();
      if (key.array().length > KEPT_KEY_BYTES) {
        key = new ByteWriter(KEPT_KEY_BYTES);
      }
      key.clear();
    }

    /** Sets the bounds of all that begins with the parts written to {@link #key}. */
    void setBounds() {
      int length = key.length();
      if (lower.length != length) {
        lower = new byte[length];
        upper = new byte[length];
      }
      System.arraycopy(key.array(), 0, lower, 0, length);
      System.arraycopy(key.array(), 0, upper, 0, length);
      lower[length - 1] = 0;
      upper[length - 1] = 2;
    }
  }

  /**
   * @param leaseHeld whether this server is sure to own its tablets
   * @param maxBytes the most bytes of packed cells in an answer
   */
  public LookupStage(TabletMap tablets, BooleanSupplier leaseHeld, int maxBytes) {
    this.tablets = tablets;
    this.leaseHeld = leaseHeld;
    this.maxBytes = maxBytes;
  }

  public LookupCounters counters() {
    return counters;
  }

  /**
   * Answers; the answer is this thread's and good until its next lookup.
   *
   * @throws SteleException NOT_SERVING, CORRUPT, UNAVAILABLE, BAD_REQUEST
   */
  public LookupAnswer lookup(LookupQuery query) {
    if (query.rowLength() == 0) {
      throw new SteleException(ErrorCode.BAD_REQUEST, "the row of a lookup is empty");
    }
    Tablet tablet =
        tablets.find(query.tableId(), query.row(), query.rowOffset(), query.rowLength());
    if (tablet == null) {
      throw notServing(query);
    }
    Workspace workspace = workspaces.get();
    workspace.begin();
    LookupAnswer answer = workspace.answer;
    try (TabletView view = tablet.openView()) {
      if (!leaseHeld.getAsBoolean()) {
        throw ReadFailures.leaseLost(tablet);
      }
      answer.readSequence = view.readSequence();
      read(view, query, workspace);
    } catch (IOException e) {
      throw ReadFailures.of(tablet, e);
    }
    tablet.counters().lookups().increment();
    count(answer.cells.cells());
    return answer;
  }

  private void count(int cells) {
    counters.lookups().increment();
    if (cells > 0) {
      counters.found().increment();
      counters.cells().add(cells);
    }
  }

  private static SteleException notServing(LookupQuery query) {
    return new SteleException(
        ErrorCode.NOT_SERVING,
        "no tablet of table "
            + query.tableId()
            + " with row "
            + Bytes.of(query.row(), query.rowOffset(), query.rowLength())
            + " is here");
  }

  private void read(TabletView view, LookupQuery query, Workspace workspace) throws IOException {
    ByteWriter key = workspace.key;
    KeyCodec.writePart(key, query.row(), query.rowOffset(), query.rowLength());
    int rowPartLength = key.length();
    List<Column> columns = query.columns();
    if (columns.size() == 1) {
      appendColumn(key, columns.get(0));
    }
    workspace.setBounds();
    try (RowCursors cursors = workspace.cursors) {
      VersionCursor cells =
          cursors.open(view, key.array(), rowPartLength, columns.size() <= 1 ? List.of() : columns);
      if (cells != null) {
        cells.stopBefore(workspace.upper);
        cells.seek(workspace.lower);
        pack(cells, workspace.upper, query.plain(), limit(query), workspace.answer);
      }
    }
  }

  private int limit(LookupQuery query) {
    return query.maxBytes() > 0 ? Math.min(query.maxBytes(), maxBytes) : maxBytes;
  }

  private static void appendColumn(ByteWriter key, Column column) {
    KeyCodec.writePart(key, column.family());
    Bytes qualifier = column.qualifier();
    if (qualifier != null) {
      KeyCodec.writePart(key, qualifier);
    }
  }

  private static void pack(
      VersionCursor cells, byte[] upper, boolean plain, int limit, LookupAnswer answer)
      throws IOException {
    PackedCellsWriter packed = answer.cells;
    byte[] last = null;
    while (cells.isValid()) {
      byte[] key = cells.keyArray();
      int offset = cells.keyOffset();
      int length = cells.keyLength();
      if (Arrays.compareUnsigned(key, offset, offset + length, upper, 0, upper.length) >= 0) {
        return;
      }
      if (last != null) {
        answer.position = last;
        return;
      }
      packed.add(key, offset, length, cells.valueArray(), cells.valueOffset(), cells.valueLength());
      if ((plain ? packed.plainLength() : packed.length()) >= limit) {
        last = ResumeKey.after(key, offset, length);
      }
      cells.next();
    }
  }
}
