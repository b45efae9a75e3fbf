package org.stele.client;

import java.util.ArrayList;
import java.util.List;
import org.stele.core.data.Column;
import org.stele.core.data.Range;

/** What a scan should give. Not thread-safe; {@link #open} can be called again and again. */
public final class ScannerBuilder {
  private final ClientCore core;
  private final String table;
  private Range range = Range.all();
  private List<Column> columns = List.of();
  private int batchCells;
  private int batchBytes;
  private long limit = Long.MAX_VALUE;
  private boolean bypassCache;
  private boolean isolateRows = true;

  ScannerBuilder(ClientCore core, String table) {
    this.core = core;
    this.table = table;
  }

  /** The cells in this range; all if not set. */
  public ScannerBuilder range(Range newRange) {
    range = newRange;
    return this;
  }

  /** Only cells of these columns and families; none: of all. */
  public ScannerBuilder columns(Column... newColumns) {
    return columns(List.of(newColumns));
  }

  public ScannerBuilder columns(List<Column> newColumns) {
    columns = List.copyOf(newColumns);
    return this;
  }

  /** The most cells that are fetched at once; 0, which is the default: the server's limit. */
  public ScannerBuilder batchCells(int cells) {
    batchCells = notNegative("batch cells", cells);
    return this;
  }

  /** The most bytes that are fetched at once; 0, which is the default: the server's limit. */
  public ScannerBuilder batchBytes(int bytes) {
    batchBytes = notNegative("batch bytes", bytes);
    return this;
  }

  /** The scan ends after so many cells; 1 or more. */
  public ScannerBuilder limit(long cells) {
    if (cells < 1) {
      throw new IllegalArgumentException("a limit of " + cells + " cells");
    }
    limit = cells;
    return this;
  }

  /** True: blocks that the servers read for this scan do not displace others from their caches. */
  public ScannerBuilder bypassCache(boolean bypass) {
    bypassCache = bypass;
    return this;
  }

  /**
   * True, which is the default: every row is given as it was at one moment, for which a row that is
   * larger than a batch is collected in memory. False: such a row may be given in parts that are of
   * different moments.
   */
  public ScannerBuilder isolateRows(boolean isolate) {
    isolateRows = isolate;
    return this;
  }

  /** Opens the scan. Nothing is fetched before the first cell is asked for. */
  public Scanner open() {
    return new Scanner(
        core,
        table,
        new Scan(
            range,
            new ArrayList<>(columns),
            batchCells,
            batchBytes,
            limit,
            bypassCache,
            isolateRows));
  }

  private static int notNegative(String what, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(what + ": " + value);
    }
    return value;
  }

  /** What was asked for; a batch value of 0 leaves it to the server. */
  record Scan(
      Range range,
      List<Column> columns,
      int batchCells,
      int batchBytes,
      long limit,
      boolean bypassCache,
      boolean isolateRows) {}
}
