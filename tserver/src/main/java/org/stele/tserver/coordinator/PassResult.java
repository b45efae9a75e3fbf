package org.stele.tserver.coordinator;

/** What a pass of the reconciler says about the next one. */
enum PassResult {
  /** Everything is as it should be. */
  SETTLED,
  /** Servers are at work: look again soon. */
  WAITING
}
