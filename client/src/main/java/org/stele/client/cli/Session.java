package org.stele.client.cli;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.stele.client.ServerStatus;
import org.stele.client.TableDescription;
import org.stele.client.TabletInfo;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;

/**
 * What the commands need of an instance. Each call ends by its deadline, with {@link
 * org.stele.core.error.SteleException} if it failed. Used by one thread.
 */
public interface Session extends AutoCloseable {
  void createTable(String table, List<Bytes> splits, Map<String, String> settings);

  void deleteTable(String table);

  /** All tables, in order of name. */
  List<TableDescription> tables();

  /** The tablets of a table, in order of their rows. */
  List<TabletInfo> tablets(String table);

  void flush(String table);

  void compact(String table);

  /** The cells of a row; all if no columns are named. */
  Row lookup(String table, Bytes row, List<Column> columns);

  /**
   * The first cells of the ranges, one range after the other; all columns if none are named.
   *
   * @param limit the most cells
   */
  Cells scan(String table, List<Range> ranges, List<Column> columns, long limit);

  Writer writer(String table);

  /** The effective settings of a server of the instance, secrets masked. */
  Map<String, String> settings();

  /** A server of the instance about itself. */
  ServerStatus server();

  @Override
  void close();

  /** Cells as they come. */
  interface Cells extends Iterator<Cell>, AutoCloseable {
    @Override
    void close();
  }

  /** Collects mutations and sends many at a time; what neither reports is durable after a flush. */
  interface Writer extends AutoCloseable {
    void add(Mutation mutation);

    void flush();

    @Override
    void close();
  }
}
