package org.stele.server.metadata;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.error.SteleException;

/**
 * The rows of the metadata table, wherever its tablet is. Thread-safe; every method may block, up
 * to a deadline of its own, and tries again by itself what may be tried again.
 */
public interface MetadataTable {
  /** Null if there is no such row. */
  @Nullable Row read(Bytes row);

  /** The rows of a range, in order. Each row is whole; the rows need not be of one moment. */
  List<Row> scan(Range range);

  /**
   * Applies a batch, durably. After an unknown outcome it is sent again, and recognised by its id.
   *
   * @throws SteleException {@code CONSTRAINT} if a condition does not hold: nothing was done; any
   *     other code: it may or may not have been done
   */
  void apply(MetadataBatch batch);
}
