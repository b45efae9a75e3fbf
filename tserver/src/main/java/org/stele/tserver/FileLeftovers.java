package org.stele.tserver;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.file.FileStore;
import org.stele.server.metadata.MetadataStore.DeleteRecord;
import org.stele.tserver.coordinator.Leftovers;
import org.stele.tserver.files.FileCollector;
import org.stele.tserver.files.FileNames;

/** Sorted files in the store that dead servers or deleted tables have left. Thread-safe. */
final class FileLeftovers implements Leftovers {
  private static final Logger LOG = LoggerFactory.getLogger(FileLeftovers.class);
  private static final String TABLES = "tables";

  /** The id of a file, which begins with a session, and endings. */
  private static final Pattern NAME = Pattern.compile("(([0-9a-f]+)-[0-9]+)(\\.[a-z.]+)?");

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
  public List<String> tables() throws IOException {
    return store.list(TABLES).stream().map(FileStore.Entry::name).toList();
  }

  @Override
  public List<StoredFile> files(String tableId) throws IOException {
    List<StoredFile> files = new ArrayList<>();
    for (FileStore.Entry file : store.list(FileNames.directory(tableId))) {
      Matcher name = NAME.matcher(file.name());
      if (name.matches()) {
        files.add(new StoredFile(tableId, file.name(), name.group(1), name.group(2)));
      }
    }
    return files;
  }

  @Override
  public void deleteUnlisted(StoredFile file) throws IOException {
    String path = FileNames.directory(file.tableId()) + "/" + file.name();
    LOG.info("{} was never listed by a tablet: deleted", path);
    store.delete(path);
  }

  @Override
  public void deleteDirectory(String tableId) throws IOException {
    String directory = FileNames.directory(tableId);
    if (store.list(directory).isEmpty()) {
      store.delete(directory);
      LOG.info("{} is deleted, the table is gone", directory);
    }
  }
}
