package org.stele.tserver.write;

import java.util.List;

/** Hears the outcome of a batch, exactly once. */
@FunctionalInterface
public interface WriteCompletion {
  /**
   * Called on the thread that settled the last mutation (the caller's, wal-sync, wal-apply or
   * write-admit); must not block.
   *
   * @param failures by index, ascending; mutations not named are durable as asked and visible
   */
  void done(List<WriteFailure> failures);
}
