package org.stele.tserver.files;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Sequence;

/**
 * A sorted file as a tablet's metadata names it. Only the rows above {@code previousEndRow} up to
 * and with {@code endRow} count; a null end is open.
 *
 * @param fileId session and counter of its creator ({@link FileNames})
 * @param size of the file, in bytes
 * @param entries cells in the file, markers included
 * @param firstSequence all its cells have at least this sequence, and above that of the tablet's
 *     file before
 * @param lastSequence all its cells have at most this sequence
 */
public record FileReference(
    String fileId,
    long size,
    long entries,
    long firstSequence,
    long lastSequence,
    @Nullable Bytes previousEndRow,
    @Nullable Bytes endRow) {
  public FileReference {
    requireNonNull(fileId, "fileId is null");
    if (size < 0 || entries < 0 || Long.compareUnsigned(firstSequence, lastSequence) > 0) {
      throw new IllegalArgumentException(
          "file "
              + fileId
              + " of "
              + size
              + " bytes, "
              + entries
              + " entries, sequences "
              + Sequence.toString(firstSequence)
              + " to "
              + Sequence.toString(lastSequence));
    }
  }

  /** Whether rows outside the range may be in the file. */
  public boolean isClipped() {
    return previousEndRow != null || endRow != null;
  }
}
