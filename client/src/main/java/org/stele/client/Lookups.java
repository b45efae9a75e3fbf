package org.stele.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.stele.client.rpc.LookupAnswer;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Range;
import org.stele.core.data.Row;

/** Lookups of single rows; a row larger than an answer is read by a scan. Thread-safe. */
final class Lookups {
  private static final String WHAT = "lookup";

  private final ClientCore core;
  private final TabletRouter router;

  Lookups(ClientCore core) {
    this.core = core;
    this.router = new TabletRouter(core);
  }

  Row lookup(String table, Bytes row, List<Column> columns) {
    requireRow(row);
    LookupAnswer answer =
        router.run(
            WHAT,
            table,
            row,
            false,
            (location, tableId, limits) ->
                core.tabletCalls().lookup(location.address(), tableId, row, columns, limits));
    return answer.more() ? scan(table, row, columns) : new Row(row, answer.cells());
  }

  CompletableFuture<Row> lookupAsync(String table, Bytes row, List<Column> columns) {
    requireRow(row);
    AsyncOperation<LookupAnswer> operation =
        new AsyncOperation<>(
            core,
            WHAT,
            table,
            row,
            false,
            (location, tableId, limits, answer) ->
                core.tabletCalls()
                    .lookupAsync(location.address(), tableId, row, columns, limits, answer));
    return operation
        .start()
        .thenCompose(
            answer ->
                answer.more()
                    ? scanAsync(table, row, columns)
                    : CompletableFuture.completedFuture(new Row(row, answer.cells())));
  }

  private CompletableFuture<Row> scanAsync(String table, Bytes row, List<Column> columns) {
    try {
      return core.threads().supply(() -> scan(table, row, columns));
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(core.rejectedException(false));
    }
  }

  private Row scan(String table, Bytes row, List<Column> columns) {
    List<Cell> cells = new ArrayList<>();
    try (Scanner scanner =
        new ScannerBuilder(core, table).range(Range.row(row)).columns(columns).open()) {
      scanner.forEach(cells::add);
    }
    return new Row(row, cells);
  }

  private static void requireRow(Bytes row) {
    if (row.isEmpty()) {
      throw new IllegalArgumentException("the row is empty: a row has at least one byte");
    }
  }
}
