package org.stele.peers.accumulo;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.accumulo.core.client.Accumulo;
import org.apache.accumulo.core.client.AccumuloClient;
import org.apache.accumulo.core.client.BatchScanner;
import org.apache.accumulo.core.client.BatchWriter;
import org.apache.accumulo.core.client.BatchWriterConfig;
import org.apache.accumulo.core.client.ConditionalWriter.Result;
import org.apache.accumulo.core.client.ConditionalWriter.Status;
import org.apache.accumulo.core.client.ConditionalWriterConfig;
import org.apache.accumulo.core.client.MutationsRejectedException;
import org.apache.accumulo.core.client.Scanner;
import org.apache.accumulo.core.client.admin.CompactionConfig;
import org.apache.accumulo.core.client.admin.NewTableConfiguration;
import org.apache.accumulo.core.data.Condition;
import org.apache.accumulo.core.data.ConditionalMutation;
import org.apache.accumulo.core.data.Key;
import org.apache.accumulo.core.data.Range;
import org.apache.accumulo.core.security.Authorizations;
import org.apache.hadoop.io.Text;
import org.stele.peers.harness.Store;

/** Accumulo through its public client. */
final class AccumuloStore implements Store {
  private final Path properties;
  private final AccumuloClient client;

  AccumuloStore(Path properties) {
    this.properties = properties;
    this.client = Accumulo.newClient().from(properties).build();
  }

  @Override
  public void create(TableSpec table) throws Exception {
    if (client.tableOperations().exists(table.name())) {
      client.tableOperations().delete(table.name());
    }
    Map<String, String> properties = new HashMap<>();
    properties.put("table.durability", table.durability());
    if (table.blockBytes() > 0) {
      properties.put("table.file.compress.blocksize", table.blockBytes() + "B");
      properties.put("table.file.compress.blocksize.index", "256K");
    }
    if (table.cached()) {
      properties.put("table.cache.index.enable", "true");
      properties.put("table.cache.block.enable", "true");
    }
    NewTableConfiguration configuration = new NewTableConfiguration().setProperties(properties);
    if (!table.splits().isEmpty()) {
      TreeSet<Text> splits = new TreeSet<>();
      table.splits().forEach(split -> splits.add(new Text(split)));
      configuration.withSplits(splits);
    }
    client.tableOperations().create(table.name(), configuration);
    scan(table.name()); // returns when all tablets are served
  }

  @Override
  public void drop(String table) throws Exception {
    client.tableOperations().delete(table);
  }

  @Override
  public void flush(String table) throws Exception {
    client.tableOperations().flush(table, null, null, true);
  }

  @Override
  public void compact(String table) throws Exception {
    client.tableOperations().compact(table, new CompactionConfig().setFlush(true).setWait(true));
  }

  @Override
  public long files(String table) throws Exception {
    String id = client.tableOperations().tableIdMap().get(table);
    try (Scanner scanner = client.createScanner("accumulo.metadata", Authorizations.EMPTY)) {
      scanner.setRange(new Range(new Key(id + ";"), true, new Key(id + "<\0"), false));
      scanner.fetchColumnFamily("file");
      return count(scanner.iterator());
    }
  }

  @Override
  public RowReader reader(String table) {
    return row -> {
      try (Scanner scanner = client.createScanner(table, Authorizations.EMPTY)) {
        scanner.setRange(new Range(new Text(row)));
        return (int) count(scanner.iterator());
      }
    };
  }

  @Override
  public long scan(String table) throws Exception {
    return scan(table, new Range());
  }

  @Override
  public long scan(String table, byte[] from, byte[] to) throws Exception {
    return scan(table, new Range(new Text(from), true, new Text(to), false));
  }

  private long scan(String table, Range range) throws Exception {
    try (Scanner scanner = client.createScanner(table, Authorizations.EMPTY)) {
      scanner.setRange(range);
      return count(scanner.iterator());
    }
  }

  @Override
  public long parallelScan(String table, List<byte[]> splits, int threads) throws Exception {
    List<Range> ranges = new ArrayList<>();
    Text previous = null;
    for (byte[] split : splits) {
      Text next = new Text(split);
      ranges.add(new Range(previous, false, next, true));
      previous = next;
    }
    ranges.add(new Range(previous, false, null, true));
    try (BatchScanner scanner = client.createBatchScanner(table, Authorizations.EMPTY, threads)) {
      scanner.setRanges(ranges);
      return count(scanner.iterator());
    }
  }

  private static long count(Iterator<?> iterator) {
    long count = 0;
    while (iterator.hasNext()) {
      iterator.next();
      count++;
    }
    return count;
  }

  private record AccumuloMutation(org.apache.accumulo.core.data.Mutation changes)
      implements Mutation {}

  @Override
  public Mutation mutation(byte[] row, Cell... cells) {
    var changes = new org.apache.accumulo.core.data.Mutation(row);
    for (Cell cell : cells) {
      changes.put(cell.family(), cell.qualifier(), cell.value());
    }
    return new AccumuloMutation(changes);
  }

  @Override
  public Writer writer(String table, int maxThreads) throws Exception {
    BatchWriterConfig config = new BatchWriterConfig();
    if (maxThreads > 0) {
      config.setMaxWriteThreads(maxThreads);
    }
    return new BatchingWriter(client.createBatchWriter(table, config));
  }

  private record BatchingWriter(BatchWriter writer) implements Writer {
    @Override
    public void add(Mutation mutation) throws MutationsRejectedException {
      writer.addMutation(((AccumuloMutation) mutation).changes());
    }

    @Override
    public void flush() throws MutationsRejectedException {
      writer.flush();
    }

    @Override
    public void commit(Mutation mutation) throws MutationsRejectedException {
      add(mutation);
      flush();
    }

    @Override
    public void close() throws MutationsRejectedException {
      writer.close();
    }
  }

  @Override
  public ConditionalWriter conditionalWriter(String table) throws Exception {
    return new SequenceWriter(client.createConditionalWriter(table, new ConditionalWriterConfig()));
  }

  private record SequenceWriter(org.apache.accumulo.core.client.ConditionalWriter writer)
      implements ConditionalWriter {
    @Override
    public int advance(List<byte[]> rows, long sequence) throws Exception {
      if (rows.size() == 1) {
        return accepted(writer.write(mutation(rows.get(0), sequence)));
      }
      List<ConditionalMutation> mutations = new ArrayList<>(rows.size());
      for (byte[] row : rows) {
        mutations.add(mutation(row, sequence));
      }
      int changed = 0;
      for (Iterator<Result> results = writer.write(mutations.iterator()); results.hasNext(); ) {
        changed += accepted(results.next());
      }
      return changed;
    }

    private static ConditionalMutation mutation(byte[] row, long sequence) {
      Condition condition = new Condition("meta", "seq");
      if (sequence != 0) {
        condition.setValue(Long.toString(sequence).getBytes(StandardCharsets.UTF_8));
      }
      ConditionalMutation mutation = new ConditionalMutation(row, condition);
      mutation.put("meta", "seq", Long.toString(sequence + 1));
      return mutation;
    }

    private static int accepted(Result result) throws Exception {
      return result.getStatus() == Status.ACCEPTED ? 1 : 0;
    }

    @Override
    public void close() {
      writer.close();
    }
  }

  /** This client waits for as long as it takes, and notices by itself when a tablet is back. */
  @Override
  public Store impatient() {
    return new AccumuloStore(properties);
  }

  @Override
  public void close() {
    client.close();
  }
}
