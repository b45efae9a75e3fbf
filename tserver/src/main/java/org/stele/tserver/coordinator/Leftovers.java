package org.stele.tserver.coordinator;

import java.io.IOException;
import java.util.Set;
import org.stele.server.metadata.MetadataStore.DeleteRecord;

/** Sorted files that nobody needs any more. Thread-safe; may block. */
public interface Leftovers {
  /** Deletes a file in its time, then its delete row. May be told more than once. */
  void collect(DeleteRecord file);

  /**
   * Deletes the files made by a session that is gone which no metadata lists.
   *
   * @param listed ids of all files in the metadata, to be deleted or not
   */
  void deleteUnlisted(String session, Set<String> listed) throws IOException;
}
