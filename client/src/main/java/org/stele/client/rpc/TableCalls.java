package org.stele.client.rpc;

import java.util.List;
import java.util.Map;
import org.stele.core.data.Bytes;
import org.stele.core.thrift.TableService;

/**
 * Table operations, which any server takes; one attempt each. Thread-safe; all wait, and throw as
 * {@link TabletCalls} do.
 */
public final class TableCalls {
  private static final Method<TableService.createTable_args, TableService.createTable_result>
      CREATE = Method.ofStructures("createTable", TableService.createTable_result::new);
  private static final Method<TableService.deleteTable_args, TableService.deleteTable_result>
      DELETE = Method.ofStructures("deleteTable", TableService.deleteTable_result::new);
  private static final Method<TableService.listTables_args, TableService.listTables_result> LIST =
      Method.ofStructures("listTables", TableService.listTables_result::new);
  private static final Method<TableService.flushTable_args, TableService.flushTable_result> FLUSH =
      Method.ofStructures("flushTable", TableService.flushTable_result::new);
  private static final Method<TableService.compactTable_args, TableService.compactTable_result>
      COMPACT = Method.ofStructures("compactTable", TableService.compactTable_result::new);

  private final RpcClient rpc;

  public TableCalls(RpcClient rpc) {
    this.rpc = rpc;
  }

  /** The id of the new table. */
  public String create(
      String server,
      String name,
      List<Bytes> splits,
      Map<String, String> settings,
      CallLimits limits)
      throws InterruptedException {
    TableService.createTable_result result =
        rpc.call(
            server,
            CREATE,
            new TableService.createTable_args(
                name, splits.stream().map(Wire::buffer).toList(), settings),
            limits);
    Wire.check(server, result.getError());
    return TabletCalls.present(result.getSuccess());
  }

  public void delete(String server, String name, CallLimits limits) throws InterruptedException {
    Wire.check(
        server,
        rpc.call(server, DELETE, new TableService.deleteTable_args(name), limits).getError());
  }

  public List<TableInfo> list(String server, CallLimits limits) throws InterruptedException {
    TableService.listTables_result result =
        rpc.call(server, LIST, new TableService.listTables_args(), limits);
    Wire.check(server, result.getError());
    return TabletCalls.present(result.getSuccess()).stream()
        .map(table -> new TableInfo(table.getName(), table.getId(), table.getSettings()))
        .toList();
  }

  public void flush(String server, String name, CallLimits limits) throws InterruptedException {
    Wire.check(
        server, rpc.call(server, FLUSH, new TableService.flushTable_args(name), limits).getError());
  }

  public void compact(String server, String name, CallLimits limits) throws InterruptedException {
    Wire.check(
        server,
        rpc.call(server, COMPACT, new TableService.compactTable_args(name), limits).getError());
  }
}
