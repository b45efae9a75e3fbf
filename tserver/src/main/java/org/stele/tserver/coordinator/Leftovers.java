package org.stele.tserver.coordinator;

import java.io.IOException;
import java.util.List;
import org.stele.server.metadata.MetadataStore.DeleteRecord;

/**
 * Sorted files in the file store, for those who delete what nobody needs. Thread-safe; may block.
 */
public interface Leftovers {
  /** Deletes a file in its time, then its delete row. May be told more than once. */
  void collect(DeleteRecord file);

  /** The tables that have a directory, by id. */
  List<String> tables() throws IOException;

  /** What lies in the directory of a table; files with strange names are left out. */
  List<StoredFile> files(String tableId) throws IOException;

  /** Deletes a file that no metadata lists. */
  void deleteUnlisted(StoredFile file) throws IOException;

  /** Deletes the directory of a table that is gone, if it is empty. */
  void deleteDirectory(String tableId) throws IOException;

  /**
   * A file, finished or not.
   *
   * @param name in the directory of its table
   * @param session of the server that made it
   */
  record StoredFile(String tableId, String name, String fileId, String session) {}
}
