package org.stele.tserver.files;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.FileStore;
import org.stele.core.sortedfile.BlockCache;
import org.stele.core.sortedfile.SortedFileReader;

/** The sorted files that this server has open, one reader for each whoever uses it. Thread-safe. */
public final class OpenFiles {
  private final FileStore store;
  private final BlockCache cache;
  private final FileCollector collector;
  private final AtomicLong nextNumber = new AtomicLong(1);

  @GuardedBy("this")
  private final Map<String, OpenFile> byId = new HashMap<>();

  public OpenFiles(FileStore store, BlockCache cache, FileCollector collector) {
    this.store = store;
    this.cache = cache;
    this.collector = collector;
  }

  public FileStore store() {
    return store;
  }

  /**
   * Opens a file that metadata names or is to name, or takes it if it is open; the caller is one of
   * its users.
   *
   * @throws CorruptFileException also if the file is missing: its cells are lost until it is back
   */
  public OpenFile open(String tableId, String fileId) throws IOException {
    NonBlocking.assertMayBlock();
    synchronized (this) {
      OpenFile known = byId.get(fileId);
      if (known != null && known.tryRetain()) {
        return known;
      }
    }
    SortedFileReader reader = read(FileNames.path(tableId, fileId));
    OpenFile opened = new OpenFile(this, tableId, fileId, reader);
    synchronized (this) {
      OpenFile other = byId.get(fileId);
      if (other != null && other.tryRetain()) {
        reader.close();
        return other;
      }
      byId.put(fileId, opened);
    }
    return opened;
  }

  private SortedFileReader read(String path) throws IOException {
    try {
      return SortedFileReader.open(store, path, nextNumber.getAndIncrement(), cache);
    } catch (NoSuchFileException e) {
      throw new CorruptFileException(path, 0, "the file is missing");
    } catch (AccessDeniedException e) {
      throw new CorruptFileException(path, 0, "the file may not be read: permission denied");
    }
  }

  /** Files open now. */
  public synchronized int count() {
    return byId.size();
  }

  void closed(OpenFile file) {
    synchronized (this) {
      byId.remove(file.fileId(), file);
    }
    file.reader().close();
    if (file.isDropped()) {
      collector.collect(file.tableId(), file.fileId());
    }
  }
}
