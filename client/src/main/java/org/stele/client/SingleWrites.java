package org.stele.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.stele.client.retry.AttemptException;
import org.stele.client.rpc.WriteAnswer;
import org.stele.client.rpc.WriteQuery;
import org.stele.core.data.Mutation;

/** Writes of one mutation each; {@link BatchWriter} sends many together. Thread-safe. */
final class SingleWrites {
  private static final String WHAT = "write";

  private final ClientCore core;
  private final TabletRouter router;

  SingleWrites(ClientCore core) {
    this.core = core;
    this.router = new TabletRouter(core);
  }

  void write(String table, Mutation mutation) {
    requireUpdates(mutation);
    router.run(
        WHAT,
        table,
        mutation.row(),
        true,
        (location, tableId, limits) ->
            done(
                location.address(),
                core.tabletCalls().write(location.address(), query(tableId, mutation), limits)));
  }

  CompletableFuture<Void> writeAsync(String table, Mutation mutation) {
    requireUpdates(mutation);
    AsyncOperation<WriteAnswer> operation =
        new AsyncOperation<>(
            core,
            WHAT,
            table,
            mutation.row(),
            true,
            (location, tableId, limits, answer) ->
                core.tabletCalls()
                    .writeAsync(
                        location.address(),
                        query(tableId, mutation),
                        limits,
                        new SingleWriteAnswer(location.address(), answer)));
    return operation.start().thenAccept(answer -> {});
  }

  private static WriteQuery query(String tableId, Mutation mutation) {
    return new WriteQuery(tableId, List.of(mutation), null);
  }

  /** The failure of the only mutation is that of the write. */
  private static WriteAnswer done(String server, WriteAnswer answer) {
    if (!answer.failures().isEmpty()) {
      throw AttemptException.replied(server, answer.failures().get(0).error());
    }
    return answer;
  }

  static void requireUpdates(Mutation mutation) {
    if (mutation.updates().isEmpty()) {
      throw new IllegalArgumentException("the mutation of row " + mutation.row() + " is empty");
    }
  }
}
