package org.stele.tserver.lookup;

import java.util.List;
import org.stele.core.data.Column;

/**
 * Asks for a row or columns of it. The row is a part of an array, which is only read while the
 * lookup runs.
 *
 * @param columns empty: all
 * @param maxBytes the most bytes of packed cells to answer with
 */
@SuppressWarnings("ArrayRecordComponent") // a view of the request, never compared
public record LookupQuery(
    String tableId, byte[] row, int rowOffset, int rowLength, List<Column> columns, int maxBytes) {}
