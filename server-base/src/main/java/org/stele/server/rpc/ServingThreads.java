package org.stele.server.rpc;

import java.nio.channels.SocketChannel;

/** The threads that serve an endpoint's connections. Thread-safe. */
interface ServingThreads {
  /** Called once, before the first connection. */
  void start();

  /**
   * Takes over a connection that is counted already; closes it if it cannot be served. Does not
   * block.
   */
  void adopt(SocketChannel channel);

  /** Has connections closed as they become quiet, and threads end when they have none. */
  void finish();

  /** Has all connections closed and all threads ended, or what there is of them if not started. */
  void end();

  /** After {@link #finish} or {@link #end}: waits for the threads, until the real time is over. */
  void join(long untilNanos) throws InterruptedException;
}
