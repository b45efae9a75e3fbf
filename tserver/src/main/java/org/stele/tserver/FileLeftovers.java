package org.stele.tserver;

import java.io.IOException;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.FileStore;
import org.stele.server.metadata.MetadataStore.DeleteRecord;
import org.stele.tserver.coordinator.Leftovers;
import org.stele.tserver.files.FileCollector;

/** Sorted files in the store that dead servers or deleted tables have left. Thread-safe. */
final class FileLeftovers implements Leftovers {
  private static final Logger LOG = LoggerFactory.getLogger(FileLeftovers.class);
  private static final String TABLES = "tables";

  private final FileStore store;
  private final FileCollector collector;

  FileLeftovers(FileStore store, FileCollector collector) {
    this.store = store;
    this.collector = collector;
  }

  @Override
  public void collect(DeleteRecord file) {
    collector.collect(file.tableId(), file.fileId());
  }

  @Override
  public void deleteUnlisted(String session, Set<String> listed) throws IOException {
    for (FileStore.Entry table : store.list(TABLES)) {
      String directory = TABLES + "/" + table.name();
      for (FileStore.Entry file : store.list(directory)) {
        String fileId = file.name().replaceFirst("\\.[a-z.]+$", "");
        if (fileId.startsWith(session + "-") && !listed.contains(fileId)) {
          LOG.info("{}/{} was never listed by a tablet: deleted", directory, file.name());
          store.delete(directory + "/" + file.name());
        }
      }
    }
  }
}
