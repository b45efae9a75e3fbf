package org.stele.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.core.time.Clock;

/**
 * The way into an instance of Stele. One per process is enough: all its threads share it, its
 * connections and its knowledge of where tablets are.
 *
 * <p>Thread-safe. Every operation ends within the deadline of {@link ClientOptions}, with its
 * result or with a {@link org.stele.core.error.SteleException} that names server, tablet, attempts
 * and last cause. An interrupt ends a waiting operation with {@link OperationInterruptedException}.
 * Failures that pass are retried (docs/errors.md); a write whose answer was lost is sent again, so
 * that it may be applied twice, the second time with a later time given by the server: the same
 * cells with the same values.
 *
 * <p>Closing ends all threads and connections and fails what is under way; writers and scanners are
 * closed before.
 */
public final class SteleClient implements AutoCloseable {
  private final ClientCore core;
  private final Lookups lookups;
  private final SingleWrites writes;
  private final Tables tables;
  private final Servers servers;
  private final SystemCalls system;

  private SteleClient(ClientCore core) {
    this.core = core;
    this.lookups = new Lookups(core);
    this.writes = new SingleWrites(core);
    this.tables = new Tables(core);
    this.servers = new Servers(core);
    this.system = new SystemCalls(core);
  }

  /**
   * Connects with the default options.
   *
   * @param zooKeeper {@code host:port[,host:port…][/path]}; the path is {@code /stele} if not given
   * @throws org.stele.core.error.SteleException UNAVAILABLE if ZooKeeper is not reached, or has no
   *     instance at the path, within the deadline; BAD_REQUEST if a file of the options cannot be
   *     used
   */
  public static SteleClient connect(String zooKeeper) {
    return connect(zooKeeper, ClientOptions.defaults());
  }

  /** Connects as {@link #connect(String)} does. */
  public static SteleClient connect(String zooKeeper, ClientOptions options) {
    return new SteleClient(ClientCore.connect(zooKeeper, options, Clock.system()));
  }

  /** Operations on whole tables. */
  public Tables tables() {
    return tables;
  }

  /** The servers of the instance. */
  public Servers servers() {
    return servers;
  }

  /** Calls between the servers of an instance; applications have no use for them. */
  public SystemCalls system() {
    return system;
  }

  public ClientOptions options() {
    return core.options();
  }

  /** The id of the instance, which is never reused. */
  public String instanceId() {
    return core.instanceId();
  }

  /** The cells of a row as they are at one moment; an empty row if there are none. */
  public Row lookup(String table, Bytes row) {
    return lookup(table, row, List.of());
  }

  public Row lookup(String table, String row) {
    return lookup(table, Bytes.of(row));
  }

  public Row lookup(String table, String row, Column... columns) {
    return lookup(table, Bytes.of(row), List.of(columns));
  }

  /**
   * The cells of some columns and families of a row as they are at one moment.
   *
   * @param row not empty
   * @param columns in any order; none: all
   */
  public Row lookup(String table, Bytes row, List<Column> columns) {
    return lookups.lookup(table, row, columns);
  }

  /**
   * As {@link #lookup(String, Bytes, List)}, without waiting. The future fails with the exception
   * that the other throws, and with BUSY at once while 65,536 completed futures wait to be told.
   *
   * <p>What depends on the future runs on one of two threads that complete all futures of the
   * client: whatever takes long there holds up other futures, though no connection and no
   * synchronous call. It may wait for another future; for all else that waits use the methods that
   * end in Async, with an executor of your own.
   */
  public CompletableFuture<Row> lookupAsync(String table, Bytes row, List<Column> columns) {
    return lookups.lookupAsync(table, row, columns);
  }

  public CompletableFuture<Row> lookupAsync(String table, Bytes row) {
    return lookupAsync(table, row, List.of());
  }

  /** Begins a scan of a table: set what it should give, then open it. */
  public ScannerBuilder scanner(String table) {
    return new ScannerBuilder(core, table);
  }

  public BatchWriter batchWriter(String table) {
    return batchWriter(table, BatchWriterOptions.defaults());
  }

  /** A writer that collects mutations and sends them together. */
  public BatchWriter batchWriter(String table, BatchWriterOptions options) {
    return new BatchWriter(core, table, options);
  }

  /**
   * Does one mutation; when this returns it is as durable as the table's setting says, and visible.
   */
  public void write(String table, Mutation mutation) {
    writes.write(table, mutation);
  }

  /**
   * As {@link #write}, without waiting; what depends on the future runs as with {@link
   * #lookupAsync(String, Bytes, List)}.
   */
  public CompletableFuture<Void> writeAsync(String table, Mutation mutation) {
    return writes.writeAsync(table, mutation);
  }

  /** Idempotent. */
  @Override
  public void close() {
    core.close();
  }
}
