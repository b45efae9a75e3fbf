package org.stele.client.cli;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import org.stele.client.BatchWriter;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.ServerInfo;
import org.stele.client.ServerStatus;
import org.stele.client.SteleClient;
import org.stele.client.TableDescription;
import org.stele.client.TableOptions;
import org.stele.client.TabletInfo;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/** A session on a real instance, through the client library. */
final class SteleSession implements Session {
  private final SteleClient client;

  private SteleSession(SteleClient client) {
    this.client = client;
  }

  static Session connect(String connectString, ClientOptions options) {
    try {
      return new SteleSession(SteleClient.connect(connectString, options));
    } catch (IllegalArgumentException e) {
      throw new CommandFailure("'" + connectString + "': " + e.getMessage(), e);
    }
  }

  @Override
  public void createTable(String table, List<Bytes> splits, Map<String, String> settings) {
    client.tables().create(table, new TableOptions(splits, settings));
  }

  @Override
  public void deleteTable(String table) {
    client.tables().delete(table);
  }

  @Override
  public List<TableDescription> tables() {
    return client.tables().list();
  }

  @Override
  public List<TabletInfo> tablets(String table) {
    return client.tables().tablets(table);
  }

  @Override
  public void flush(String table) {
    client.tables().flush(table);
  }

  @Override
  public void compact(String table) {
    client.tables().compact(table);
  }

  @Override
  public Row lookup(String table, Bytes row, List<Column> columns) {
    return client.lookup(table, row, columns);
  }

  @Override
  public Cells scan(String table, List<Range> ranges, List<Column> columns, long limit) {
    return new RangesInTurn(client, table, ranges.iterator(), columns, limit);
  }

  @Override
  public Writer writer(String table) {
    BatchWriter writer = client.batchWriter(table);
    return new Writer() {
      @Override
      public void add(Mutation mutation) {
        writer.add(mutation);
      }

      @Override
      public void flush() {
        writer.flush();
      }

      @Override
      public void close() {
        writer.close();
      }
    };
  }

  @Override
  public Map<String, String> settings() {
    return client.servers().settings(anyAddress());
  }

  @Override
  public ServerStatus server() {
    return client.servers().status(anyAddress());
  }

  private String anyAddress() {
    List<ServerInfo> servers = client.servers().list();
    if (servers.isEmpty()) {
      throw new SteleException(
          ErrorCode.UNAVAILABLE, "no server of the instance is registered in ZooKeeper");
    }
    return servers.get(0).address();
  }

  @Override
  public void close() {
    client.close();
  }

  /** The cells of several ranges, scanned one after the other. */
  private static final class RangesInTurn implements Cells {
    private final SteleClient client;
    private final String table;
    private final Iterator<Range> ranges;
    private final List<Column> columns;
    private long left;
    private @Nullable Scanner scanner;
    private @Nullable Iterator<Cell> cells;

    RangesInTurn(
        SteleClient client,
        String table,
        Iterator<Range> ranges,
        List<Column> columns,
        long limit) {
      this.client = client;
      this.table = table;
      this.ranges = ranges;
      this.columns = columns;
      this.left = limit;
    }

    @Override
    public boolean hasNext() {
      return left > 0 && nonEmpty() != null;
    }

    @Override
    public Cell next() {
      Iterator<Cell> current = left > 0 ? nonEmpty() : null;
      if (current == null) {
        throw new NoSuchElementException();
      }
      left--;
      return current.next();
    }

    /** The iterator that has the next cell; null at the end of the last range. */
    private @Nullable Iterator<Cell> nonEmpty() {
      while (cells == null || !cells.hasNext()) {
        close();
        if (!ranges.hasNext()) {
          return null;
        }
        scanner = client.scanner(table).range(ranges.next()).columns(columns).limit(left).open();
        cells = scanner.iterator();
      }
      return cells;
    }

    @Override
    public void close() {
      if (scanner != null) {
        scanner.close();
        scanner = null;
        cells = null;
      }
    }
  }
}
