package org.stele.tserver.write;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Durability;
import org.stele.core.data.Mutation;
import org.stele.core.data.WriterStamp;

/**
 * The mutations of one request.
 *
 * @param durability null: the table's
 * @param deadlineNanos on the server's {@link org.stele.core.time.Clock#nanos()}: not placed in the
 *     log after it
 * @param atomic all mutations or none, in one record of the log and visible at once; they must be
 *     of one tablet
 * @param writer goes into each record of the log
 */
public record WriteBatch(
    String tableId,
    List<Mutation> mutations,
    @Nullable Durability durability,
    long deadlineNanos,
    boolean atomic,
    WriterStamp writer) {
  public WriteBatch {
    mutations = List.copyOf(mutations);
  }
}
