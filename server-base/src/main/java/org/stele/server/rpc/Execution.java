package org.stele.server.rpc;

/** On which thread a method begins. */
public enum Execution {
  /**
   * On the selector thread, in a {@link org.stele.core.concurrent.NonBlocking} stretch: short, or
   * handed on at once (a write that is answered by the log's threads). If it would block it is
   * begun anew on a worker.
   */
  INLINE,
  /** On a worker thread: may read files and wait. */
  WORKER
}
