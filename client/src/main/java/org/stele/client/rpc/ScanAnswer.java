package org.stele.client.rpc;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Extent;

/**
 * One batch of a scan; the meaning of each part is that of ScanResult in the IDL.
 *
 * @param extent that was served
 * @param atEnd nothing of the range is left in the extent
 * @param position to give to the next query, opaque; null at the end
 * @param rowContinues the batch ends within a row
 * @param viewChanged no cells: the row begun before must be begun anew
 */
public record ScanAnswer(
    List<Cell> cells,
    Extent extent,
    boolean atEnd,
    @Nullable Bytes position,
    boolean rowContinues,
    @Nullable Long readSequence,
    boolean viewChanged) {}
