package org.stele.tserver.bench;

/** A call that is begun without waiting for its answer. Any thread may begin it. */
interface AsyncOperation extends AutoCloseable {
  /**
   * Begins it once.
   *
   * @param end hears of the end, once, on any thread, maybe before this method returns
   */
  void begin(End end);

  @Override
  default void close() {}

  /** Hears how the call ended. */
  interface End {
    void done();

    void failed(Throwable failure);
  }

  /** Makes the operations of a level. */
  interface Factory {
    /**
     * @param number of the operation, from 0: one after the other, never two at a time
     */
    AsyncOperation create(int number);
  }
}
