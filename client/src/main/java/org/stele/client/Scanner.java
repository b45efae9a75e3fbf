package org.stele.client;

import java.util.Iterator;
import org.stele.core.data.Cell;

/**
 * The cells of a range in key order, each once, fetched in batches, the next one while the one
 * before is worked on. A tablet that moves, splits or is busy meanwhile changes nothing: the scan
 * goes on exactly behind the last cell given, also after a long pause; a server keeps nothing
 * between batches. Every row is given as it was at one moment (see {@link
 * ScannerBuilder#isolateRows}); different rows can be of different moments.
 *
 * <p>Not thread-safe. Every batch has the client's deadline. {@link Iterator#hasNext} and {@link
 * Iterator#next} throw {@link org.stele.core.error.SteleException}; after that the scan cannot go
 * on.
 */
public final class Scanner implements Iterable<Cell>, AutoCloseable {
  private final ScanCursor cursor;
  private boolean iterated;

  Scanner(ClientCore core, String table, ScannerBuilder.Scan scan) {
    this.cursor = new ScanCursor(core, table, scan);
  }

  /**
   * The cells. A scanner is iterated once.
   *
   * @throws IllegalStateException at the second call
   */
  @Override
  public Iterator<Cell> iterator() {
    if (iterated) {
      throw new IllegalStateException("a scanner is iterated once; open another");
    }
    iterated = true;
    return cursor;
  }

  /** Forgets what was fetched and not given. Idempotent. */
  @Override
  public void close() {
    cursor.close();
  }
}
