package org.stele.tserver.bench;

import java.time.Duration;
import java.util.ArrayList;
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

  /** At the begin of each level, for threads to start and the number of callers to settle. */
  private static final Duration SETTLE = Duration.ofSeconds(1);

  private final CommandContext context;
  private final BenchOptions options;
  private final int rows;
  private final List<Integer> levels;
  private final boolean misses;
  private final Duration warmUp;
  private final Duration measure;

  LookupBench(
      CommandContext context,
      BenchOptions options,
      int rows,
      List<Integer> levels,
      boolean misses) {
    this.context = context;
    this.options = options;
    this.rows = rows;
    this.levels = List.copyOf(levels);
    this.misses = misses;
    this.warmUp = options.warmup();
    this.measure = options.measure();
  }

  void run() throws Exception {
    LookupData data = new LookupData(rows, options.seed());
    try (BenchServer server = BenchServer.open(context, options);
        SteleClient client = SteleClient.connect(server.connectString());
        BenchTable table = BenchTable.create(client, "bench.lookups", tableOptions())) {
      context.say(
          String.format(
              Locale.ROOT,
              "%,d rows of %d cells in %d tablets, looked up at random, %s; server pid %s",
              rows,
              LookupData.CELLS,
              LookupData.TABLETS,
              misses ? "none of them there" : "all of them there",
              server.pid() == null ? "unknown" : server.pid()));
      fill(client, table.name(), data);
      measureLevels(client, table.name(), data, server.pid());
    }
  }

  private static TableOptions tableOptions() {
    return TableOptions.defaults()
        .withSplits(LookupData.splits())
        .with("table.file.block.bytes", "8K");
  }

  private void fill(SteleClient client, String table, LookupData data) {
    try (BatchWriter writer = client.batchWriter(table)) {
      for (int i = 0; i < data.size(); i++) {
        writer.add(data.mutation(i));
      }
    }
    client.tables().flush(table);
    client.tables().compact(table);
    readAllOnce(client, table, data);
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

  private void measureLevels(
      SteleClient client, String table, LookupData data, @Nullable Long serverPid) {
    ResultTable results = new ResultTable(context, columns());
    boolean first = true;
    LevelResult best = null;
    for (int threads : levels) {
      Level level =
          new Level(
              threads,
              serverPid,
              (thread, all) ->
                  misses
                      ? missingRow(client, table, thread)
                      : existingRow(client, table, data, thread));
      LevelResult result = level.run(first ? warmUp : SETTLE, measure);
      results.print(json(result));
      first = false;
      if (best == null || result.requestsPerSecond() > best.requestsPerSecond()) {
        best = result;
      }
    }
    if (best != null) {
      context.say(
          String.format(
              Locale.ROOT,
              "most: %,.0f lookups/s with %d threads",
              best.requestsPerSecond(),
              best.threads()));
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

  private Map<String, @Nullable Object> json(LevelResult result) {
    Map<String, @Nullable Object> object = result.toJson();
    object.put("kind", misses ? "miss" : "hit");
    object.put("rows", rows);
    return object;
  }

  private static List<ResultTable.Column> columns() {
    List<ResultTable.Column> columns = new ArrayList<>();
    columns.add(new ResultTable.Column("threads", "threads", 0));
    columns.add(new ResultTable.Column("ops_per_s", "lookups/s", 0));
    columns.addAll(ResultTable.COMMON);
    return columns;
  }
}
