package org.stele.peers.hbase;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.stele.peers.harness.Store;

/** HBase through its public client; threads share the connections in turn. */
final class HBaseStore implements Store {
  private static final int SCAN_CACHING = 1000;

  private final List<Connection> connections = new ArrayList<>();
  private final AtomicInteger nextConnection = new AtomicInteger();

  private HBaseStore(Configuration configuration, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      connections.add(ConnectionFactory.createConnection(configuration));
    }
  }

  /**
   * @param retries of the client; negative means the product's default
   */
  static HBaseStore connect(int connections, int retries) throws IOException {
    Configuration configuration = HBaseConfiguration.create();
    if (retries >= 0) {
      configuration.setInt("hbase.client.retries.number", retries);
    }
    return new HBaseStore(configuration, connections);
  }

  private static HBaseStore connectImpatient() throws IOException {
    Configuration configuration = HBaseConfiguration.create();
    configuration.setInt("hbase.client.retries.number", 0);
    configuration.setInt("hbase.client.pause", 50);
    configuration.setInt("hbase.client.operation.timeout", 1000);
    configuration.setInt("hbase.client.meta.operation.timeout", 1000);
    configuration.setInt("hbase.client.scanner.timeout.period", 1000);
    configuration.setInt("hbase.rpc.timeout", 1000);
    configuration.setInt("hbase.rpc.read.timeout", 1000);
    configuration.setInt("zookeeper.recovery.retry", 0);
    configuration.setInt("hbase.ipc.client.failed.servers.expiry", 20);
    return new HBaseStore(configuration, 1);
  }

  /** Returns when the server answers a scan of its own table of regions. */
  static void awaitServer(int seconds) throws Exception {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (true) {
      // A client that finds no ZooKeeper would wait for it longer than we want to.
      if (zooKeeperListens()) {
        try (HBaseStore store = connectImpatient()) {
          store.scan("hbase:meta");
          return;
        } catch (IOException notYet) {
          if (System.nanoTime() > end) {
            throw notYet;
          }
        }
      }
      if (System.nanoTime() > end) {
        throw new IOException("no server after " + seconds + " s");
      }
      LockSupport.parkNanos(20_000_000L);
    }
  }

  private static boolean zooKeeperListens() {
    int port = HBaseConfiguration.create().getInt("hbase.zookeeper.property.clientPort", 2181);
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), 200);
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  private Connection connection() {
    return connections.get(Math.floorMod(nextConnection.getAndIncrement(), connections.size()));
  }

  private Table table(String name) throws IOException {
    return connection().getTable(TableName.valueOf(name));
  }

  @Override
  public void create(TableSpec table) throws IOException {
    TableName name = TableName.valueOf(table.name());
    ColumnFamilyDescriptorBuilder family =
        ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(table.family())).setMaxVersions(1);
    if (table.blockBytes() > 0) {
      family.setBlocksize(table.blockBytes());
    }
    TableDescriptorBuilder descriptor =
        TableDescriptorBuilder.newBuilder(name)
            .setColumnFamily(family.build())
            .setDurability(durability(table.durability()));
    try (Admin admin = connection().getAdmin()) {
      if (admin.tableExists(name)) {
        drop(admin, name);
      }
      if (table.splits().isEmpty()) {
        admin.createTable(descriptor.build());
      } else {
        admin.createTable(descriptor.build(), table.splits().toArray(new byte[0][]));
      }
    }
  }

  private static Durability durability(String name) {
    return switch (name) {
      case "none" -> Durability.SKIP_WAL;
      case "log" -> Durability.ASYNC_WAL;
      case "flush" -> Durability.SYNC_WAL; // written, but not synced to the disk
      case "sync" -> Durability.FSYNC_WAL;
      default -> throw new IllegalArgumentException("durability " + name);
    };
  }

  @Override
  public void drop(String table) throws IOException {
    try (Admin admin = connection().getAdmin()) {
      drop(admin, TableName.valueOf(table));
    }
  }

  private static void drop(Admin admin, TableName table) throws IOException {
    admin.disableTable(table);
    admin.deleteTable(table);
  }

  @Override
  public void flush(String table) throws IOException {
    try (Admin admin = connection().getAdmin()) {
      admin.flush(TableName.valueOf(table));
    }
  }

  @Override
  public void compact(String table) throws IOException {
    TableName name = TableName.valueOf(table);
    try (Admin admin = connection().getAdmin()) {
      admin.flush(name);
      admin.majorCompact(name);
      // The request is queued; there is nothing to ask for whether it has begun.
      LockSupport.parkNanos(1_500_000_000L);
      while (admin.getCompactionState(name) != CompactionState.NONE) {
        LockSupport.parkNanos(200_000_000L);
      }
    }
  }

  @Override
  public long files(String table) throws IOException {
    long files = 0;
    try (Admin admin = connection().getAdmin()) {
      for (ServerMetrics server : admin.getClusterMetrics().getLiveServerMetrics().values()) {
        for (RegionMetrics region : server.getRegionMetrics().values()) {
          if (region.getNameAsString().startsWith(table + ",")) {
            files += region.getStoreFileCount();
          }
        }
      }
    }
    return files;
  }

  @Override
  public RowReader reader(String name) throws IOException {
    Table table = table(name);
    return row -> table.get(new Get(row)).size();
  }

  @Override
  public long scan(String table) throws IOException {
    return scan(table, new Scan());
  }

  @Override
  public long scan(String table, byte[] from, byte[] to) throws IOException {
    return scan(table, new Scan().withStartRow(from).withStopRow(to));
  }

  private long scan(String name, Scan scan) throws IOException {
    long cells = 0;
    try (Table table = table(name);
        ResultScanner results = table.getScanner(scan.setCaching(SCAN_CACHING))) {
      for (Result result = results.next(); result != null; result = results.next()) {
        cells += result.size();
      }
    }
    return cells;
  }

  /** HBase's client has no such scan: one scan for each range, each in a thread. */
  @Override
  public long parallelScan(String table, List<byte[]> splits, int threads) throws Exception {
    List<Callable<Long>> scans = new ArrayList<>();
    byte[] from = new byte[0];
    for (byte[] split : splits) {
      byte[] start = from;
      scans.add(() -> scan(table, start, split));
      from = split;
    }
    byte[] last = from;
    scans.add(() -> scan(table, last, new byte[0]));
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      long cells = 0;
      for (Future<Long> done : pool.invokeAll(scans)) {
        cells += done.get();
      }
      return cells;
    } finally {
      pool.shutdown();
    }
  }

  private record HBaseMutation(Put put) implements Mutation {}

  @Override
  public Mutation mutation(byte[] row, Cell... cells) {
    Put put = new Put(row);
    for (Cell cell : cells) {
      put.addColumn(cell.family(), cell.qualifier(), cell.value());
    }
    return new HBaseMutation(put);
  }

  /** HBase's client sends with the threads of the connection, whatever is asked for. */
  @Override
  public Writer writer(String name, int maxThreads) throws IOException {
    Connection connection = connection();
    TableName table = TableName.valueOf(name);
    return new BufferedWriter(connection.getBufferedMutator(table), connection.getTable(table));
  }

  private record BufferedWriter(BufferedMutator mutator, Table table) implements Writer {
    @Override
    public void add(Mutation mutation) throws IOException {
      mutator.mutate(((HBaseMutation) mutation).put());
    }

    @Override
    public void flush() throws IOException {
      mutator.flush();
    }

    @Override
    public void commit(Mutation mutation) throws IOException {
      table.put(((HBaseMutation) mutation).put());
    }

    @Override
    public void close() throws IOException {
      mutator.close();
      table.close();
    }
  }

  @Override
  public ConditionalWriter conditionalWriter(String name) throws IOException {
    return new SequenceWriter(table(name));
  }

  private record SequenceWriter(Table table) implements ConditionalWriter {
    private static final byte[] FAMILY = Bytes.toBytes("meta");
    private static final byte[] QUALIFIER = Bytes.toBytes("seq");

    @Override
    public int advance(List<byte[]> rows, long sequence) throws IOException {
      if (rows.size() == 1) {
        return table.checkAndMutate(check(rows.get(0), sequence)).isSuccess() ? 1 : 0;
      }
      List<CheckAndMutate> checks = new ArrayList<>(rows.size());
      for (byte[] row : rows) {
        checks.add(check(row, sequence));
      }
      int changed = 0;
      for (CheckAndMutateResult result : table.checkAndMutate(checks)) {
        changed += result.isSuccess() ? 1 : 0;
      }
      return changed;
    }

    private static CheckAndMutate check(byte[] row, long sequence) {
      Put put = new Put(row).addColumn(FAMILY, QUALIFIER, number(sequence + 1));
      CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(row);
      return sequence == 0
          ? builder.ifNotExists(FAMILY, QUALIFIER).build(put)
          : builder.ifEquals(FAMILY, QUALIFIER, number(sequence)).build(put);
    }

    private static byte[] number(long number) {
      return Bytes.toBytes(Long.toString(number));
    }

    @Override
    public void close() throws IOException {
      table.close();
    }
  }

  @Override
  public Store impatient() throws IOException {
    return connectImpatient();
  }

  @Override
  public void close() throws IOException {
    for (Connection connection : connections) {
      connection.close();
    }
  }
}
