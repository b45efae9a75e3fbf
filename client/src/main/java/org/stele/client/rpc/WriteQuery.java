package org.stele.client.rpc;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Durability;
import org.stele.core.data.Mutation;

/**
 * Mutations for one server.
 *
 * @param durability null: the table's
 */
public record WriteQuery(
    String tableId, List<Mutation> mutations, @Nullable Durability durability) {}
