package org.stele.tserver.coordinator;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.stele.core.data.Bytes;

/** A change of tables that the coordinator is asked for. Its result is the id of the table. */
sealed interface TableOperation {
  /** Completed when everything is done, or with the reason why it is not. */
  CompletableFuture<String> result();

  /** On the clock's nanoseconds. */
  long deadlineNanos();

  /** Makes a table; done when all its tablets are served. */
  record Create(
      String name,
      List<Bytes> splits,
      Map<String, String> settings,
      long deadlineNanos,
      CompletableFuture<String> result)
      implements TableOperation {}

  /** Deletes a table; done when nothing of it is served and no row is left. */
  record Delete(String name, long deadlineNanos, CompletableFuture<String> result)
      implements TableOperation {}
}
