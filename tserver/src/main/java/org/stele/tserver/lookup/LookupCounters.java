package org.stele.tserver.lookup;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts of all lookups since the server started.
 *
 * @param lookups answered
 * @param found of them those with at least one cell
 * @param cells given
 */
public record LookupCounters(LongAdder lookups, LongAdder found, LongAdder cells) {
  public LookupCounters() {
    this(new LongAdder(), new LongAdder(), new LongAdder());
  }
}
