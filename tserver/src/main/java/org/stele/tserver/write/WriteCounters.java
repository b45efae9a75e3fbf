package org.stele.tserver.write;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts of the write path since the server started.
 *
 * @param batches requests
 * @param mutations mutations applied
 * @param cells cells applied
 * @param bytes bytes of keys and values applied
 * @param refused mutations refused before they were logged
 * @param expired mutations whose deadline passed before they were logged
 * @param unknown mutations whose outcome is not known because the log failed
 * @param waited tablet writes that had to wait for memory or the log
 * @param busy tablet writes that waited in vain
 */
public record WriteCounters(
    LongAdder batches,
    LongAdder mutations,
    LongAdder cells,
    LongAdder bytes,
    LongAdder refused,
    LongAdder expired,
    LongAdder unknown,
    LongAdder waited,
    LongAdder busy) {
  public WriteCounters() {
    this(
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder());
  }
}
