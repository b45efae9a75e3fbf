package org.stele.client;

import java.util.Iterator;
import org.stele.core.data.Cell;

/** Gives the cells of a scan. Not thread-safe. */
final class ScanCursor implements Iterator<Cell> {
  ScanCursor(ClientCore core, String table, ScannerBuilder.Scan scan) {
    throw new UnsupportedOperationException(core + table + scan);
  }

  @Override
  public boolean hasNext() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Cell next() {
    throw new UnsupportedOperationException();
  }

  void close() {}
}
