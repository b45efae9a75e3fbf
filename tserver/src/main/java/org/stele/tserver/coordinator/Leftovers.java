package org.stele.tserver.coordinator;

import java.io.IOException;
import java.util.Set;

/** Sorted files that a server which is gone has left. Thread-safe; may block. */
@FunctionalInterface
public interface Leftovers {
  /**
   * Deletes the files made by a session that no metadata lists.
   *
   * @param listed ids of all files in the metadata, to be deleted or not
   */
  void delete(String session, Set<String> listed) throws IOException;
}
