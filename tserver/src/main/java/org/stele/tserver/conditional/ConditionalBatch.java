package org.stele.tserver.conditional;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;

/**
 * Mutations that are done together if all conditions hold.
 *
 * @param id if a mutation sets a column of the family of marks to it and the column has it already,
 *     the batch was done before
 */
public record ConditionalBatch(String id, List<Condition> conditions, List<Mutation> mutations) {
  public ConditionalBatch {
    conditions = List.copyOf(conditions);
    mutations = List.copyOf(mutations);
  }

  /**
   * What a column must hold.
   *
   * @param value null: the column must not be there
   */
  public record Condition(Bytes row, Column column, @Nullable Bytes value) {}
}
