package org.stele.tserver.tablet;

import java.util.concurrent.atomic.LongAdder;

/** Counts of one tablet since it was opened here. */
public record TabletCounters(
    LongAdder lookups,
    LongAdder scanBatches,
    LongAdder cellsWritten,
    LongAdder flushes,
    LongAdder compactions) {
  TabletCounters() {
    this(new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder());
  }
}
