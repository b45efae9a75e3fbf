package org.stele.client.rpc;

import java.util.List;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;

/**
 * Which cells of a row are wanted.
 *
 * @param columns none: all
 */
record LookupQuery(String tableId, Bytes row, List<Column> columns) {}
