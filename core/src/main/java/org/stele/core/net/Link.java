package org.stele.core.net;

import java.io.IOException;
import java.nio.channels.ByteChannel;

/**
 * One end of a connection whose socket never blocks, plain or encrypted. At any moment at most one
 * thread reads and at most one writes; both may do so at the same time.
 */
public interface Link extends ByteChannel {
  /**
   * Whether {@link #read} has bytes that came already: the socket need not become readable for
   * them. For the reading thread.
   */
  boolean hasInput();

  /** Bytes that came and wait here for {@link #read}. For the reading thread. */
  int heldInputBytes();

  /**
   * Writes what {@link #write} took and holds back, since the socket was full. For the writing
   * thread.
   *
   * @return whether nothing is held back any more
   */
  boolean flush() throws IOException;

  /** Bytes that {@link #write} took and the socket did not. For the writing thread. */
  int heldBackBytes();

  /** Tells the other side that nothing more will come; reading goes on. */
  void endOutput() throws IOException;
}
