package org.stele.core.data;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * One change of a mutation: a put, or a delete of a column, a family or the whole row.
 *
 * @param timestamp null: given by the server
 * @param value empty for deletes
 */
public record Update(
    CellType type,
    Bytes family,
    Bytes qualifier,
    Bytes visibility,
    @Nullable Long timestamp,
    Bytes value) {
  public Update {
    requireNonNull(type, "type is null");
    requireNonNull(family, "family is null");
    requireNonNull(qualifier, "qualifier is null");
    requireNonNull(visibility, "visibility is null");
    requireNonNull(value, "value is null");
  }
}
