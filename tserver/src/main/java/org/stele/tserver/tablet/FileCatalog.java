package org.stele.tserver.tablet;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.tserver.files.FileReference;

/**
 * The tablet's row of the metadata, as far as its owner changes it. Every change is one durable
 * batch, conditional on the owner's location and epoch, and may be repeated with the same
 * arguments: it then has the same outcome. Thread-safe; every method may block.
 *
 * <p>An {@link IOException} says that the change is not known to be made; the caller repeats it.
 *
 * @see LostTabletException thrown by all methods if the row no longer names this owner
 */
public interface FileCatalog {
  /**
   * Everything of the tablet up to and with {@code flushedSequence} is in its files and {@code
   * added}.
   *
   * @param added null: nothing new was to be written
   * @param timeFloor at least the largest time given to a cell, in milliseconds
   */
  void commitFlush(
      TabletIdentity tablet, @Nullable FileReference added, long flushedSequence, long timeFloor)
      throws IOException;

  /**
   * {@code added} takes the place of {@code removed}, for each of which a delete row is written.
   *
   * @param added null: nothing is left of them
   */
  void commitCompaction(
      TabletIdentity tablet, List<FileReference> removed, @Nullable FileReference added)
      throws IOException;

  /** The files are deleted from the store: their delete rows go. */
  void commitDeletion(String tableId, List<String> fileIds) throws IOException;
}
