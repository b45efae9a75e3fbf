package org.stele.tserver.service;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.stele.core.data.Bytes;
import org.stele.core.data.DataLimits;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.settings.Setting;
import org.stele.core.settings.SettingException;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.core.thrift.TableInfo;
import org.stele.core.thrift.TableService;
import org.stele.core.thrift.TabletLocation;
import org.stele.server.metadata.TableRecord;
import org.stele.server.metadata.TabletRecord;
import org.stele.server.rpc.Call;
import org.stele.server.rpc.Execution;
import org.stele.server.rpc.Methods;
import org.stele.tserver.coordinator.Coordinator;
import org.stele.tserver.coordinator.TableTasks;
import org.stele.tserver.coordinator.TabletStatus;

/**
 * Table operations. Makings and deletions go to the coordinator; the others are done by the threads
 * {@code table-task-N}, which may wait for the metadata: a worker that did would wait for itself.
 */
final class TableHandlers {
  private static final String SERVICE = "TableService";
  private static final String RESERVED = "stele.";
  private static final int MAX_SPLITS = 20_000;
  private static final int MAX_SPLIT_BYTES = 8 << 20;
  private static final int MAX_LOCATIONS = 10_000;

  private final Coordinator coordinator;
  private final TableTasks tasks;
  private final Executor executor;
  private final ServerSelf self;

  TableHandlers(Coordinator coordinator, TableTasks tasks, Executor executor, ServerSelf self) {
    this.coordinator = coordinator;
    this.tasks = tasks;
    this.executor = executor;
    this.self = self;
  }

  void register(Methods methods) {
    methods
        .add(
            SERVICE,
            "createTable",
            Execution.INLINE,
            true,
            TableService.createTable_args::new,
            this::create)
        .add(
            SERVICE,
            "deleteTable",
            Execution.INLINE,
            true,
            TableService.deleteTable_args::new,
            this::delete)
        .add(
            SERVICE,
            "listTables",
            Execution.INLINE,
            true,
            TableService.listTables_args::new,
            this::list)
        .add(
            SERVICE,
            "describeTable",
            Execution.INLINE,
            true,
            TableService.describeTable_args::new,
            this::describe)
        .add(SERVICE, "locate", Execution.INLINE, true, TableService.locate_args::new, this::locate)
        .add(
            SERVICE,
            "flushTable",
            Execution.INLINE,
            true,
            TableService.flushTable_args::new,
            this::flush)
        .add(
            SERVICE,
            "compactTable",
            Execution.INLINE,
            true,
            TableService.compactTable_args::new,
            this::compact);
  }

  // ---- The coordinator's

  private void create(TableService.createTable_args arguments, Call call) {
    String name = Requests.tableName(arguments.getName());
    if (name.startsWith(RESERVED)) {
      throw Requests.bad("table names that begin with " + RESERVED + " are the system's: " + name);
    }
    CompletableFuture<String> made =
        coordinator.createTable(
            name,
            splits(arguments.getSplits() == null ? List.of() : arguments.getSplits()),
            tableSettings(arguments.getSettings() == null ? Map.of() : arguments.getSettings()),
            call.caller().deadlineNanos());
    var unused =
        made.whenComplete(
            (id, failure) -> {
              if (failure != null) {
                call.fail(Failures.typed(failure));
                return;
              }
              TableService.createTable_result result = new TableService.createTable_result();
              result.setSuccess(id);
              call.reply(result);
            });
  }

  /** In order, each once. */
  private static List<Bytes> splits(List<ByteBuffer> plain) {
    TreeSet<Bytes> splits = new TreeSet<>();
    long bytes = 0;
    for (ByteBuffer split : plain) {
      if (!split.hasRemaining()) {
        throw Requests.bad("a split is empty: a row has at least one byte");
      }
      bytes += split.remaining();
      splits.add(Requests.bytes(split));
    }
    if (splits.size() > MAX_SPLITS || bytes > MAX_SPLIT_BYTES) {
      throw new SteleException(
          ErrorCode.TOO_LARGE,
          splits.size()
              + " splits of "
              + bytes
              + " bytes: a table is made with at most "
              + MAX_SPLITS
              + " of "
              + MAX_SPLIT_BYTES
              + " bytes together");
    }
    if (splits.stream().anyMatch(split -> split.length() > DataLimits.MAX_KEY_BYTES)) {
      throw new SteleException(
          ErrorCode.TOO_LARGE, "a split is longer than " + DataLimits.MAX_KEY_BYTES + " bytes");
    }
    return List.copyOf(splits);
  }

  /** All that a table is made with: it does not change when a server's file does. */
  private Map<String, String> tableSettings(Map<String, String> given) {
    try {
      Settings.of(given);
    } catch (SettingException e) {
      throw new SteleException(ErrorCode.BAD_REQUEST, String.valueOf(e.getMessage()), e);
    }
    for (String name : given.keySet()) {
      Setting<?> setting = StandardSettings.byName().get(name);
      if (setting == null || setting.scope() != Setting.Scope.TABLE) {
        throw Requests.bad(name + " is not a setting of tables");
      }
    }
    Map<String, String> all = new TreeMap<>(self.tableDefaults());
    all.putAll(given);
    return all;
  }

  private void delete(TableService.deleteTable_args arguments, Call call) {
    String name = Requests.tableName(arguments.getName());
    if (name.startsWith(RESERVED)) {
      throw new SteleException(ErrorCode.DENIED, "table " + name + " cannot be deleted");
    }
    var unused =
        coordinator
            .deleteTable(name, call.caller().deadlineNanos())
            .whenComplete(
                (id, failure) -> {
                  if (failure == null) {
                    call.reply(new TableService.deleteTable_result());
                  } else {
                    call.fail(Failures.typed(failure));
                  }
                });
  }

  // ---- Tasks

  private void list(TableService.listTables_args arguments, Call call) {
    run(
        call,
        () -> {
          TableService.listTables_result result = new TableService.listTables_result();
          result.setSuccess(tasks.tables().stream().map(TableHandlers::info).toList());
          call.reply(result);
        });
  }

  private void describe(TableService.describeTable_args arguments, Call call) {
    String name = Requests.tableName(arguments.getName());
    run(
        call,
        () -> {
          TableService.describeTable_result result = new TableService.describeTable_result();
          result.setSuccess(info(tasks.table(name)));
          call.reply(result);
        });
  }

  private static TableInfo info(TableRecord table) {
    return new TableInfo(table.name(), table.id(), table.settings());
  }

  private void locate(TableService.locate_args arguments, Call call) {
    String tableId = Requests.required(arguments.getTableId(), "tableId");
    Bytes row = Requests.bytes(Requests.required(arguments.bufferForStartRow(), "startRow"));
    int limit = Requests.limit(arguments.getLimit(), "limit");
    run(
        call,
        () -> {
          int most = limit == 0 ? MAX_LOCATIONS : Math.min(limit, MAX_LOCATIONS);
          TableService.locate_result result = new TableService.locate_result();
          result.setSuccess(tasks.locate(tableId, row, most).stream().map(this::location).toList());
          call.reply(result);
        });
  }

  private TabletLocation location(TabletRecord tablet) {
    TabletLocation location = new TabletLocation();
    location.setExtent(Replies.extent(tablet.tableId(), tablet.previousEndRow(), tablet.endRow()));
    location.setTabletId(tablet.tabletId());
    String session = tablet.session();
    String address = tablet.address();
    if (session != null && address != null) {
      location.setAddress(address);
      location.setSession(session);
      location.setEpoch(tablet.epoch());
    }
    TabletStatus status = coordinator.status(tablet.tabletId());
    if (session == null) {
      location.setReason("no server has it");
    } else if (status != null && !status.isOpen()) {
      location.setReason(status.toText());
    }
    return location;
  }

  private void flush(TableService.flushTable_args arguments, Call call) {
    String name = Requests.tableName(arguments.getName());
    run(
        call,
        () -> {
          tasks.flush(name, call.caller().deadlineNanos());
          call.reply(new TableService.flushTable_result());
        });
  }

  private void compact(TableService.compactTable_args arguments, Call call) {
    String name = Requests.tableName(arguments.getName());
    run(
        call,
        () -> {
          tasks.compact(name, call.caller().deadlineNanos());
          call.reply(new TableService.compactTable_result());
        });
  }

  private void run(Call call, Runnable task) {
    try {
      executor.execute(
          () -> {
            try {
              task.run();
            } catch (RuntimeException e) {
              call.fail(Failures.typed(e));
            }
          });
    } catch (RejectedExecutionException e) {
      throw SteleException.busy("too many table operations wait", 1000);
    }
  }
}
