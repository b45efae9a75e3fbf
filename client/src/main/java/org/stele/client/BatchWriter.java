package org.stele.client;

import org.stele.core.data.Mutation;

/**
 * Collects mutations of one table and sends them to their servers together. Of two mutations of one
 * row the one added first is applied first.
 *
 * <p>Thread-safe. {@link #flush} and {@link #close} are barriers: what was added before and is not
 * reported by a {@link MutationsFailedException} is as durable as asked, and visible. Each failed
 * or unknown mutation is reported once, by whichever of add, flush and close comes first. A
 * mutation whose answer was lost is sent again until the deadline, then reported with
 * UNKNOWN_OUTCOME.
 */
public final class BatchWriter implements AutoCloseable {
  BatchWriter(ClientCore core, String table, BatchWriterOptions options) {
    throw new UnsupportedOperationException(core + table + options);
  }

  /**
   * Adds mutations, all or (with an exception) none; waits while the buffer is full. They must not
   * be changed any more.
   *
   * @throws MutationsFailedException if earlier mutations failed
   * @throws org.stele.core.error.SteleException DEADLINE_EXCEEDED if the buffer stayed full
   * @throws IllegalStateException if the writer is closed
   */
  public void add(Mutation... mutations) {
    throw new UnsupportedOperationException();
  }

  /**
   * Sends everything added before and waits for the answers, up to the deadline.
   *
   * @throws MutationsFailedException if any mutation failed or has an unknown outcome
   */
  public void flush() {
    throw new UnsupportedOperationException();
  }

  /**
   * Flushes and ends the writer. Idempotent: a second call does nothing.
   *
   * @throws MutationsFailedException as {@link #flush} does; the writer is closed all the same
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
