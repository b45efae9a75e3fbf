package org.stele.tserver.scan;

import org.jspecify.annotations.Nullable;
import org.stele.core.wire.PackedCellsWriter;
import org.stele.tserver.tablet.TabletExtent;

/**
 * One batch of a scan.
 *
 * @param cells packed; {@code array()} up to {@code length()}; this thread's, good until its next
 *     scan
 * @param extent that was served: after {@code atEnd} the scan goes on at its end row, nowhere else
 * @param atEnd nothing of the range is left in the extent
 * @param position where the next batch goes on; null if {@code atEnd}, or if nothing was examined
 * @param rowContinues the batch ends within a row; of which it may have no cell, if the time was
 *     over among hidden ones
 * @param readSequence at which the cells were read
 * @param viewChanged the row begun at the query's sequence can no longer be read as it was then; no
 *     cells are given
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ScanAnswer(
    PackedCellsWriter cells,
    TabletExtent extent,
    boolean atEnd,
    byte @Nullable [] position,
    boolean rowContinues,
    long readSequence,
    boolean viewChanged) {}
