package org.stele.tserver.bench;

/** What a thread of a level does again and again. Used by one thread. */
interface BenchOperation extends AutoCloseable {
  /**
   * Does it once.
   *
   * @return how many requests it was; 0: nothing to count, such as the begin of a new pass
   * @throws Exception if it failed or its answer is wrong: the benchmark ends
   */
  int run() throws Exception;

  @Override
  default void close() {}

  /** Makes the operation of each thread. */
  interface Factory {
    /**
     * @param thread its number, from 0
     * @param threads of the level
     */
    BenchOperation create(int thread, int threads);
  }
}
