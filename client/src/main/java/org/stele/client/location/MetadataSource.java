package org.stele.client.location;

import java.util.List;
import org.stele.client.rpc.CallLimits;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Range;
import org.stele.core.data.Row;

/**
 * Where locations are read from. Methods make one attempt; they throw {@link
 * org.stele.client.retry.AttemptException} and {@link InterruptedException}.
 */
interface MetadataSource {
  /** The metadata tablet's own row. */
  TabletRow root(CallLimits limits) throws InterruptedException;

  /** A row of the metadata table, read at the server with the address. */
  Row lookup(String address, Bytes row, CallLimits limits) throws InterruptedException;

  /**
   * Whole rows of the metadata table from the start of the range on, at least one if there is any.
   */
  List<Cell> scan(String address, Range range, List<Column> columns, int maxRows, CallLimits limits)
      throws InterruptedException;
}
