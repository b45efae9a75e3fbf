package org.stele.server.metadata;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;

/**
 * Changes of several rows of the metadata that are made together, if all conditions hold, or not at
 * all. The batch leaves its id in a row it changes, in a column of its writer's role, so that it is
 * recognised if it comes again: a batch whose mark is there was done.
 *
 * <p>Built by one thread; not changed after it was given to a {@link MetadataTable}.
 */
public final class MetadataBatch {
  private final String id;
  private final List<Condition> conditions = new ArrayList<>();
  private final Map<Bytes, Mutation> mutations = new LinkedHashMap<>();

  /**
   * @param id never used before
   */
  public MetadataBatch(String id) {
    this.id = id;
  }

  /**
   * Leaves the id in a row. To be given for one row that the batch does not delete.
   *
   * @param column of the writer's role
   */
  public MetadataBatch mark(Bytes row, Column column) {
    return put(row, column, Bytes.of(id));
  }

  public MetadataBatch require(Bytes row, Column column, Bytes value) {
    conditions.add(new Condition(row, column, value));
    return this;
  }

  public MetadataBatch requireAbsent(Bytes row, Column column) {
    conditions.add(new Condition(row, column, null));
    return this;
  }

  public MetadataBatch put(Bytes row, Column column, Bytes value) {
    mutation(row).put(column.family(), Columns.qualifier(column), value);
    return this;
  }

  public MetadataBatch delete(Bytes row, Column column) {
    mutation(row).deleteColumn(column.family(), Columns.qualifier(column));
    return this;
  }

  public MetadataBatch deleteRow(Bytes row) {
    mutation(row).deleteRow();
    return this;
  }

  private Mutation mutation(Bytes row) {
    return mutations.computeIfAbsent(row, Mutation::of);
  }

  public String id() {
    return id;
  }

  public List<Condition> conditions() {
    return List.copyOf(conditions);
  }

  public List<Mutation> mutations() {
    return List.copyOf(mutations.values());
  }

  /**
   * What a column must hold.
   *
   * @param value null: the column must not be there
   */
  public record Condition(Bytes row, Column column, @Nullable Bytes value) {}
}
