package org.stele.tserver.bench;

/** How the load generator makes its calls. */
enum CallMode {
  /** A thread for each call under way, which waits for the answer. */
  sync,
  /** Calls are begun without waiting. */
  async
}
