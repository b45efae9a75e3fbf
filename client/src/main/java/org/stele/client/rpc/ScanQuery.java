package org.stele.client.rpc;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Range;

/**
 * One batch of a scan.
 *
 * @param maxRows 0: the server's limit
 * @param maxCells 0: the server's limit
 * @param maxBytes 0: the server's limit
 * @param position of the batch before, to go on behind it; null: from the start of the range
 * @param readSequence with a position inside a row: that at which the row was begun
 */
public record ScanQuery(
    String tableId,
    Range range,
    List<Column> columns,
    int maxRows,
    int maxCells,
    int maxBytes,
    boolean bypassCache,
    @Nullable Bytes position,
    @Nullable Long readSequence) {}
