package org.stele.tserver.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.stele.client.BatchWriter;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Row;

/** {@code stele bench lookups}: random lookups of rows that are in the block cache. */
final class LookupBench {
  private static final int WARM_UP_THREADS = 16;

  private final CommandContext context;
  private final BenchOptions options;
  private final List<ServerVariant> variants;
  private final int rows;
  private final List<Integer> levels;
  private final boolean misses;
  private final @Nullable Baseline baseline;
  private final int rounds;
  private final Duration warmUp;
  private final Duration measure;

  LookupBench(
      CommandContext context,
      BenchOptions options,
      int rows,
      List<Integer> levels,
      boolean misses,
      @Nullable Baseline baseline,
      int rounds) {
    this.context = context;
    this.options = options;
    this.rows = rows;
    this.levels = List.copyOf(levels);
    this.misses = misses;
    this.baseline = baseline;
    this.rounds = rounds;
    this.variants = options.server().variants(context);
    this.warmUp = options.warmup();
    this.measure = options.measure();
  }

  void run() throws Exception {
    LookupData data = new LookupData(rows, options.seed());
    try (Turns turns = new Turns(context)) {
      for (ServerVariant variant : variants) {
        Lookups lookups = Lookups.start(this, variant, data);
        turns.add(lookups);
        lookups.fill();
      }
      if (baseline != null) {
        for (LibthriftKind kind : LibthriftKind.values()) {
          turns.add(LibthriftEmptyCall.start(context, kind, CallMode.sync));
        }
      }
      turns.run(levels, rounds, warmUp, measure, columns());
    }
  }

  private static TableOptions tableOptions() {
    return TableOptions.defaults()
        .withSplits(LookupData.splits())
        .with("table.file.block.bytes", "8K");
  }

  /** Brings every block into the cache, and shows that every row is there. */
  private static void readAllOnce(SteleClient client, String table, LookupData data) {
    AtomicInteger next = new AtomicInteger();
    Level pass =
        new Level(
            WARM_UP_THREADS,
            null,
            (thread, threads) ->
                () -> {
                  int index = next.getAndIncrement();
                  if (index < data.size()) {
                    requireHit(client.lookup(table, data.row(index)), data.row(index));
                  }
                  return 0;
                });
    pass.runUntil(() -> next.get() >= data.size());
  }

  /** The lookups of one server's table, for {@link Turns}. */
  private static final class Lookups implements MeasuredSystem {
    private final LookupBench bench;
    private final ServerVariant variant;
    private final LookupData data;
    private final BenchServer server;
    private final SteleClient client;
    private final BenchTable table;

    private Lookups(
        LookupBench bench,
        ServerVariant variant,
        LookupData data,
        BenchServer server,
        SteleClient client,
        BenchTable table) {
      this.bench = bench;
      this.variant = variant;
      this.data = data;
      this.server = server;
      this.client = client;
      this.table = table;
    }

    /** Starts the server and creates an empty table. */
    static Lookups start(LookupBench bench, ServerVariant variant, LookupData data)
        throws IOException {
      BenchServer server = BenchServer.open(bench.context, bench.options.server(), variant);
      @Nullable SteleClient client = null;
      try {
        client = server.connect();
        BenchTable table = BenchTable.create(client, "bench.lookups", tableOptions());
        return new Lookups(bench, variant, data, server, client, table);
      } catch (RuntimeException e) {
        if (client != null) {
          client.close();
        }
        server.close();
        throw e;
      }
    }

    /** Writes the rows, and brings them into the cache. */
    void fill() {
      bench.context.say(
          String.format(
              Locale.ROOT,
              "%,d rows of %d cells in %d tablets, looked up at random, %s; %s, server pid %s",
              bench.rows,
              LookupData.CELLS,
              LookupData.TABLETS,
              bench.misses ? "none of them there" : "all of them there",
              variant.system(),
              server.pid() == null ? "unknown" : server.pid()));
      try (BatchWriter writer = client.batchWriter(table.name())) {
        for (int i = 0; i < data.size(); i++) {
          writer.add(data.mutation(i));
        }
      }
      client.tables().flush(table.name());
      client.tables().compact(table.name());
      readAllOnce(client, table.name(), data);
    }

    @Override
    public String name() {
      return variant.system();
    }

    @Override
    public LevelResult run(int callers, Duration warm, Duration measured) {
      return new Level(
              callers,
              server.pid(),
              (thread, all) ->
                  bench.misses
                      ? bench.missingRow(client, table.name(), thread)
                      : bench.existingRow(client, table.name(), data, thread))
          .run(warm, measured);
    }

    @Override
    public Map<String, @Nullable Object> description() {
      Map<String, @Nullable Object> description = new LinkedHashMap<>(variant.endpoint());
      description.put("kind", bench.misses ? "miss" : "hit");
      description.put("rows", bench.rows);
      return description;
    }

    @Override
    public void close() {
      try (server;
          client;
          table) {
        // closed from the last to the first
      }
    }
  }

  private BenchOperation existingRow(
      SteleClient client, String table, LookupData data, int thread) {
    SplittableRandom random = new SplittableRandom(options.seed() * 7919 + thread);
    return () -> {
      Bytes row = data.row(random.nextInt(data.size()));
      requireHit(client.lookup(table, row), row);
      return 1;
    };
  }

  private BenchOperation missingRow(SteleClient client, String table, int thread) {
    SplittableRandom random = new SplittableRandom(options.seed() * 104_729 + thread);
    return () -> {
      Bytes row = LookupData.randomRow(random);
      Row answer = client.lookup(table, row);
      if (!answer.isEmpty()) {
        throw new CommandFailure(
            "wrong answer: row "
                + row
                + " was never written and has "
                + answer.cells().size()
                + " cells");
      }
      return 1;
    };
  }

  static void requireHit(Row answer, Bytes row) {
    if (answer.cells().size() != LookupData.CELLS) {
      throw new CommandFailure(
          "wrong answer: row "
              + row
              + " has "
              + answer.cells().size()
              + " cells instead of "
              + LookupData.CELLS);
    }
    for (Cell cell : answer) {
      if (!cell.row().equals(row)) {
        throw new CommandFailure(
            "wrong answer: looked up row " + row + " and got a cell of row " + cell.row());
      }
    }
  }

  private static List<ResultTable.Column> columns() {
    List<ResultTable.Column> columns = new ArrayList<>();
    columns.add(new ResultTable.Column("threads", "threads", 0));
    columns.add(new ResultTable.Column("ops_per_s", "lookups/s", 0));
    columns.addAll(ResultTable.COMMON);
    return columns;
  }
}
