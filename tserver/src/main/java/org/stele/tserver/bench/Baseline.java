package org.stele.tserver.bench;

/** What Stele is compared with in the same run. */
enum Baseline {
  /** The servers of Apache libthrift, with libthrift's own client. */
  libthrift
}
