package org.stele.client;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;

/**
 * A column of the metadata table must have a value.
 *
 * @param value null: the column must not be there
 */
public record MetadataCondition(Bytes row, Bytes family, Bytes qualifier, @Nullable Bytes value) {}
