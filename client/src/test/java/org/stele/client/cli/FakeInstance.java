package org.stele.client.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.stele.client.ClientOptions;
import org.stele.client.ServerStatus;
import org.stele.client.TableDescription;
import org.stele.client.TabletInfo;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Extent;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.data.Update;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * An instance in memory, for tests of commands: tables of rows of columns, one version of each.
 * Rows named in {@link #refusedRows} cannot be written.
 */
final class FakeInstance implements CommandContext.Connector {
  final Map<String, NavigableMap<Bytes, NavigableMap<Bytes, NavigableMap<Bytes, Cell>>>> tables =
      new TreeMap<>();
  final Map<String, List<Bytes>> splits = new LinkedHashMap<>();
  final Map<String, Map<String, String>> settings = new LinkedHashMap<>();
  final List<Bytes> refusedRows = new ArrayList<>();
  final List<String> flushed = new ArrayList<>();
  final List<String> compacted = new ArrayList<>();
  final List<String> connections = new ArrayList<>();
  final List<ClientOptions> clientOptions = new ArrayList<>();
  int openSessions;
  boolean down;
  @Nullable String notReadyReason;

  @Override
  public Session connect(String connectString, ClientOptions options) {
    connections.add(connectString);
    clientOptions.add(options);
    if (down) {
      throw new SteleException(
          ErrorCode.UNAVAILABLE, "ZooKeeper at " + connectString + " does not answer");
    }
    openSessions++;
    return new FakeSession();
  }

  private NavigableMap<Bytes, NavigableMap<Bytes, NavigableMap<Bytes, Cell>>> table(String name) {
    var table = tables.get(name);
    if (table == null) {
      throw new SteleException(ErrorCode.UNKNOWN_TABLE, "there is no table " + name);
    }
    return table;
  }

  private List<Cell> cells(String table, Bytes row) {
    List<Cell> cells = new ArrayList<>();
    var families = table(table).get(row);
    if (families != null) {
      families.values().forEach(qualifiers -> cells.addAll(qualifiers.values()));
    }
    return cells;
  }

  private final class FakeSession implements Session {
    @Override
    public void createTable(String table, List<Bytes> splitRows, Map<String, String> given) {
      if (tables.putIfAbsent(table, new TreeMap<>()) != null) {
        throw new SteleException(ErrorCode.TABLE_EXISTS, "table " + table + " exists");
      }
      splits.put(table, splitRows);
      settings.put(table, given);
    }

    @Override
    public void deleteTable(String table) {
      table(table);
      tables.remove(table);
    }

    @Override
    public List<TableDescription> tables() {
      return tables.keySet().stream()
          .map(name -> new TableDescription(name, "id-" + name, settings.get(name)))
          .toList();
    }

    @Override
    public List<TabletInfo> tablets(String table) {
      table(table);
      List<TabletInfo> tablets = new ArrayList<>();
      List<Bytes> ends = new ArrayList<>(splits.get(table));
      ends.add(null);
      Bytes previous = null;
      for (Bytes end : ends) {
        tablets.add(
            new TabletInfo(
                "t" + tablets.size(), new Extent("id", previous, end), "s", "127.0.0.1:1", 1));
        previous = end;
      }
      return tablets;
    }

    @Override
    public void flush(String table) {
      table(table);
      flushed.add(table);
    }

    @Override
    public void compact(String table) {
      table(table);
      compacted.add(table);
    }

    @Override
    public Row lookup(String table, Bytes row, List<Column> columns) {
      return new Row(row, wanted(cells(table, row), columns));
    }

    @Override
    public Cells scan(String table, List<Range> ranges, List<Column> columns, long limit) {
      List<Cell> found = new ArrayList<>();
      for (Range range : ranges) {
        for (Bytes row : table(table).keySet()) {
          Range single = Range.row(row);
          boolean fromStart = Arrays.compareUnsigned(single.lowerKey(), range.lowerKey()) >= 0;
          boolean toStop =
              range.upperKey() == null
                  || Arrays.compareUnsigned(single.lowerKey(), range.upperKey()) < 0;
          if (fromStart && toStop) {
            found.addAll(wanted(cells(table, row), columns));
          }
        }
      }
      Iterator<Cell> cells = found.stream().limit(limit).iterator();
      return new Cells() {
        @Override
        public boolean hasNext() {
          return cells.hasNext();
        }

        @Override
        public Cell next() {
          return cells.next();
        }

        @Override
        public void close() {}
      };
    }

    private static List<Cell> wanted(List<Cell> cells, List<Column> columns) {
      return cells.stream()
          .filter(
              cell ->
                  columns.isEmpty()
                      || columns.stream()
                          .anyMatch(
                              column ->
                                  column.family().equals(cell.family())
                                      && (column.qualifier() == null
                                          || column.qualifier().equals(cell.qualifier()))))
          .toList();
    }

    @Override
    public Writer writer(String table) {
      table(table);
      return new FakeWriter(table);
    }

    @Override
    public Map<String, String> settings() {
      return Map.of("rpc.port", "1234");
    }

    @Override
    public ServerStatus server() {
      return new ServerStatus(
          "instance",
          "session",
          "127.0.0.1:1",
          "9.9",
          notReadyReason == null,
          notReadyReason,
          Duration.ofSeconds(1),
          3,
          Map.of());
    }

    @Override
    public void close() {
      openSessions--;
    }
  }

  private final class FakeWriter implements Session.Writer {
    private final String table;
    private int refused;

    FakeWriter(String table) {
      this.table = table;
    }

    @Override
    public void add(Mutation mutation) {
      if (refusedRows.contains(mutation.row())) {
        refused++;
        return;
      }
      for (Update update : mutation.updates()) {
        apply(mutation.row(), update);
      }
    }

    private void apply(Bytes row, Update update) {
      var rows = table(table);
      var families = rows.computeIfAbsent(row, r -> new TreeMap<>());
      switch (update.type()) {
        case PUT ->
            families
                .computeIfAbsent(update.family(), f -> new TreeMap<>())
                .put(
                    update.qualifier(),
                    new Cell(
                        row,
                        update.family(),
                        update.qualifier(),
                        update.visibility(),
                        update.timestamp() == null ? 1000 : update.timestamp(),
                        update.value()));
        case DELETE_ROW -> rows.remove(row);
        case DELETE_FAMILY -> families.remove(update.family());
        case DELETE_COLUMN ->
            families.getOrDefault(update.family(), new TreeMap<>()).remove(update.qualifier());
        default -> throw new AssertionError(update.type());
      }
      if (families.values().stream().allMatch(Map::isEmpty)) {
        rows.remove(row);
      }
    }

    @Override
    public void flush() {
      if (refused > 0) {
        int count = refused;
        refused = 0;
        throw new SteleException(ErrorCode.CONSTRAINT, count + " mutations failed");
      }
    }

    @Override
    public void close() {
      flush();
    }
  }
}
