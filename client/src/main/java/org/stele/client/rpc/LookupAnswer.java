package org.stele.client.rpc;

import java.util.List;
import org.stele.core.data.Cell;

/**
 * Cells of a row.
 *
 * @param more the row is larger than one answer: these are not all
 */
public record LookupAnswer(List<Cell> cells, boolean more) {}
