package org.stele.tserver.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.stele.client.BatchWriter;
import org.stele.client.BatchWriterOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Durability;
import org.stele.core.data.Range;
import org.stele.core.data.Row;

/**
 * {@code stele bench evaluation}: writes, reads and scans of rows with one value. Each thread has
 * its share of the rows for what is sequential, and all of them for what is random; at the end of
 * its share it begins again.
 */
final class EvaluationBench {
  private static final Duration SETTLE = Duration.ofSeconds(1);
  private static final int TABLETS = 16;

  private final CommandContext context;
  private final BenchOptions options;
  private final List<Operation> commands;
  private final List<Integer> levels;
  private final EvaluationData data;
  private final @Nullable Durability durability;
  private final int batch;
  private final Duration warmUp;
  private final Duration measure;
  private final ServerVariant variant;

  /** What is measured. */
  enum Operation {
    sequentialWrite,
    randomWrite,
    sequentialRead,
    randomRead,
    scan;

    boolean isWrite() {
      return this == sequentialWrite || this == randomWrite;
    }
  }

  EvaluationBench(
      CommandContext context,
      BenchOptions options,
      List<Operation> commands,
      List<Integer> levels,
      EvaluationData data,
      @Nullable Durability durability,
      int batch) {
    this.context = context;
    this.options = options;
    this.commands = List.copyOf(commands);
    this.levels = List.copyOf(levels);
    this.data = data;
    this.durability = durability;
    this.batch = batch;
    this.warmUp = options.warmup();
    this.measure = options.measure();
    this.variant = options.server().variant(context);
    for (int threads : levels) {
      if (threads > data.rows()) {
        throw new IllegalArgumentException(
            threads + " threads need at least as many rows: --rows " + data.rows());
      }
    }
  }

  void run() throws Exception {
    try (BenchServer server = BenchServer.open(context, options.server(), variant);
        SteleClient client = server.connect();
        BenchTable table = BenchTable.create(client, "bench.evaluation", tableOptions())) {
      context.say(
          String.format(
              Locale.ROOT,
              "%,d rows with values of %,d bytes in %d tablets; server pid %s",
              data.rows(),
              data.valueBytes(),
              TABLETS,
              server.pid() == null ? "unknown" : server.pid()));
      fill(client, table.name());
      ResultTable results = new ResultTable(context, columns());
      boolean first = true;
      boolean settled = false;
      for (Operation command : commands) {
        if (!command.isWrite() && !settled) {
          settle(client, table.name());
        }
        settled = !command.isWrite();
        for (int threads : levels) {
          Level level =
              new Level(
                  threads,
                  server.pid(),
                  (thread, all) -> operation(command, client, table.name(), thread, all));
          results.print(json(command, level.run(first ? warmUp : SETTLE, measure)));
          first = false;
        }
      }
    }
  }

  private TableOptions tableOptions() {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < TABLETS; i++) {
      long number = (long) data.rows() * i / TABLETS;
      if (number > 0) {
        splits.add(EvaluationData.row((int) number));
      }
    }
    TableOptions made = TableOptions.defaults().withSplits(splits);
    return durability == null
        ? made
        : made.with("table.durability", durability.name().toLowerCase(Locale.ROOT));
  }

  /** Reads need the rows, whatever was measured before. */
  private void fill(SteleClient client, String table) {
    SplittableRandom random = new SplittableRandom(options.seed());
    try (BatchWriter writer = client.batchWriter(table)) {
      for (int number = 0; number < data.rows(); number++) {
        writer.add(data.mutation(number, random));
      }
    }
    client.tables().flush(table);
  }

  /** Ends what writes left to do, so that it does not run while reads are measured. */
  private static void settle(SteleClient client, String table) {
    client.tables().flush(table);
    client.tables().compact(table);
  }

  private BenchOperation operation(
      Operation command, SteleClient client, String table, int thread, int threads) {
    SplittableRandom random = new SplittableRandom(options.seed() * 7919 + thread);
    int from = (int) ((long) data.rows() * thread / threads);
    int to = (int) ((long) data.rows() * (thread + 1) / threads);
    Numbers sequential = new Numbers(from, to);
    return switch (command) {
      case sequentialWrite -> write(client, table, sequential::next, random);
      case randomWrite -> write(client, table, () -> random.nextInt(data.rows()), random);
      case sequentialRead -> read(client, table, sequential::next);
      case randomRead -> read(client, table, () -> random.nextInt(data.rows()));
      case scan -> new ScanRows(client, table, from, to);
    };
  }

  private BenchOperation write(
      SteleClient client, String table, IntSupplier numbers, SplittableRandom random) {
    if (batch == 1) {
      return () -> {
        client.write(table, data.mutation(numbers.getAsInt(), random));
        return 1;
      };
    }
    BatchWriter writer = client.batchWriter(table, BatchWriterOptions.defaults());
    return new BenchOperation() {
      @Override
      public int run() {
        for (int i = 0; i < batch; i++) {
          writer.add(data.mutation(numbers.getAsInt(), random));
        }
        writer.flush();
        return batch;
      }

      @Override
      public void close() {
        writer.close();
      }
    };
  }

  private BenchOperation read(SteleClient client, String table, IntSupplier numbers) {
    return () -> {
      Bytes row = EvaluationData.row(numbers.getAsInt());
      Row answer = client.lookup(table, row);
      if (answer.cells().size() != 1) {
        throw new CommandFailure(
            "wrong answer: row " + row + " has " + answer.cells().size() + " cells instead of 1");
      }
      require(answer.cells().get(0), row);
      return 1;
    };
  }

  private void require(Cell cell, Bytes row) {
    if (!cell.row().equals(row) || cell.value().length() != data.valueBytes()) {
      throw new CommandFailure(
          "wrong answer: row "
              + row
              + " came as row "
              + cell.row()
              + " with a value of "
              + cell.value().length()
              + " bytes");
    }
  }

  private Map<String, @Nullable Object> json(Operation command, LevelResult result) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("command", command.name());
    object.putAll(result.toJson());
    double bytes = result.requestsPerSecond() * data.valueBytes();
    object.put("mb_per_s", LevelResult.rounded(bytes / 1e6, 1000));
    object.put("rows", data.rows());
    object.put("value_size", data.valueBytes());
    object.put("batch", command.isWrite() ? batch : 1);
    return object;
  }

  private static List<ResultTable.Column> columns() {
    List<ResultTable.Column> columns = new ArrayList<>();
    columns.add(new ResultTable.Column("command", "        command", 0));
    columns.add(new ResultTable.Column("threads", "threads", 0));
    columns.add(new ResultTable.Column("ops_per_s", "requests/s", 0));
    columns.add(new ResultTable.Column("mb_per_s", "MB/s", 2));
    columns.addAll(ResultTable.COMMON);
    return columns;
  }

  /** Row numbers in order, from the first again after the last. Used by one thread. */
  private static final class Numbers {
    private final int from;
    private final int to;
    private int next;

    Numbers(int from, int to) {
      this.from = from;
      this.to = to;
      this.next = from;
    }

    int next() {
      if (next == to) {
        next = from;
      }
      return next++;
    }
  }

  /** Reads a share of the rows in order through a scanner: each run is a row. */
  private final class ScanRows implements BenchOperation {
    private final SteleClient client;
    private final String table;
    private final int from;
    private final int to;
    private int next;
    private @Nullable Scanner scanner;
    private @Nullable Iterator<Cell> cells;

    ScanRows(SteleClient client, String table, int from, int to) {
      this.client = client;
      this.table = table;
      this.from = from;
      this.to = to;
      this.next = to;
    }

    @Override
    public int run() {
      Iterator<Cell> current = cells;
      if (next == to || current == null) {
        current = begin();
      }
      Bytes row = EvaluationData.row(next);
      if (!current.hasNext()) {
        throw new CommandFailure("wrong answer: the scan ended before row " + row);
      }
      require(current.next(), row);
      next++;
      return 1;
    }

    private Iterator<Cell> begin() {
      close();
      Range share = Range.rows(EvaluationData.row(from), EvaluationData.row(to));
      Scanner opened = client.scanner(table).range(share).open();
      Iterator<Cell> begun = opened.iterator();
      scanner = opened;
      cells = begun;
      next = from;
      return begun;
    }

    @Override
    public void close() {
      if (scanner != null) {
        scanner.close();
      }
    }
  }
}
