package org.stele.tserver.scan;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts of all scans since the server started.
 *
 * @param batches answered
 * @param cells given
 * @param bytes of packed cells given
 * @param viewChanges rows that had to be begun anew
 */
public record ScanCounters(
    LongAdder batches, LongAdder cells, LongAdder bytes, LongAdder viewChanges) {
  public ScanCounters() {
    this(new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder());
  }
}
