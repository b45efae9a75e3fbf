package org.stele.tserver.files;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.cursor.CellCursor;
import org.stele.core.file.FileStore;
import org.stele.core.sortedfile.SortedFileOptions;
import org.stele.core.sortedfile.SortedFileSummary;
import org.stele.core.sortedfile.SortedFileWriter;

/**
 * A sorted file that was written, synced and closed, and that no metadata names yet.
 *
 * @param summary what is in it
 */
public record NewFile(String fileId, SortedFileSummary summary) {
  private static final Logger LOG = LoggerFactory.getLogger(NewFile.class);

  /**
   * Writes what the cursor has from its first cell on; null if that is nothing. A file that could
   * not be finished is deleted, as far as that is possible; else it stays as garbage that belongs
   * to this session.
   */
  public static @Nullable NewFile write(
      FileStore store, FileNames names, SortedFileOptions options, CellCursor cells)
      throws IOException {
    cells.seek(new byte[0]);
    if (!cells.isValid()) {
      return null;
    }
    String fileId = names.nextId();
    String path = FileNames.path(options.tableId(), fileId);
    store.makeDirectory(FileNames.directory(options.tableId()));
    boolean written = false;
    try (SortedFileWriter writer = SortedFileWriter.create(store, path, options)) {
      while (cells.isValid()) {
        writer.add(cells);
        cells.next();
      }
      NewFile file = new NewFile(fileId, writer.finish());
      written = true;
      return file;
    } finally {
      if (!written) {
        deleteUnfinished(store, path);
      }
    }
  }

  private static void deleteUnfinished(FileStore store, String path) {
    try {
      store.delete(path);
    } catch (IOException e) {
      LOG.warn("{} could not be finished and not be deleted either; it stays as garbage", path, e);
    }
  }

  /** How metadata names the file, for a tablet whose rows it has. */
  public FileReference reference(long firstSequence, long lastSequence) {
    return new FileReference(
        fileId,
        summary.length(),
        summary.properties().entries(),
        firstSequence,
        lastSequence,
        null,
        null);
  }
}
