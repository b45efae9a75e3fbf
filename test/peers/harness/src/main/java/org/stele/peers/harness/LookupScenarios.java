package org.stele.peers.harness;

import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

/** Reads of single rows from a table that fits into the cache: four cells in a row, 16 tablets. */
final class LookupScenarios {
  private static final String TABLE = "lookup";
  private static final String FAMILY = "fam1";
  private static final int CELLS = 4;
  private static final int WARM_THREADS = 32;

  private final Store store;
  private final Options options;
  private final Measurements measurements;
  private final byte[][] rows;

  LookupScenarios(Store store, Options options, Measurements measurements) {
    this.store = store;
    this.options = options;
    this.measurements = measurements;
    this.rows = Data.lookupRows(options.number("rows", 100_000));
  }

  /** Writes the table, compacts it and scans it, which brings it into the cache. */
  void load() throws Exception {
    List<byte[]> splits = Data.hexSplits();
    String durability = options.text("durability", "flush");
    for (int i = 0; i < options.number("repetitions", 1); i++) {
      store.create(new Store.TableSpec(TABLE, FAMILY, splits, 8192, true, durability));
      measurements.step("load", "write", this::writeRows);
      measurements.step(
          "load",
          "compact",
          () -> {
            store.compact(TABLE);
            return (long) CELLS * rows.length;
          });
      for (int scan = 0; scan < options.number("scans", 2); scan++) {
        measurements.step("load", "scan", () -> store.scan(TABLE));
        measurements.step("load", "parallel scan", () -> store.parallelScan(TABLE, splits, 16));
      }
    }
  }

  private long writeRows() throws Exception {
    Random random = new Random(7);
    byte[] family = Data.bytes(FAMILY);
    try (Store.Writer writer = store.writer(TABLE, 0)) {
      for (byte[] row : rows) {
        int[] qualifiers = random.ints(0, 1 << 10).distinct().limit(CELLS).toArray();
        Store.Cell[] cells = new Store.Cell[CELLS];
        for (int i = 0; i < CELLS; i++) {
          cells[i] =
              new Store.Cell(family, Data.hex(qualifiers[i], 3), Data.hex(random.nextLong(), 16));
        }
        writer.add(store.mutation(row, cells));
      }
    }
    return (long) CELLS * rows.length;
  }

  /** After one warm-up with all kinds mixed, every kind at every level of threads. */
  void lookups() throws Exception {
    List<String> kinds = options.words("kinds", "hit,miss");
    double warm = options.decimal("warm", 45);
    if (warm > 0) {
      measurements.level(
          "warm-up", "mixed", new ClosedLoop(WARM_THREADS, 0, warm, thread -> mixed(kinds)));
    }
    for (String kind : kinds) {
      for (int threads : options.numbers("levels", "1,4,8,16,32,64,128,256")) {
        measurements.level(
            "lookups",
            kind,
            new ClosedLoop(threads, 1, options.decimal("seconds", 6), thread -> lookup(kind)));
      }
    }
  }

  private ClosedLoop.Operation mixed(List<String> kinds) throws Exception {
    ClosedLoop.Operation first = lookup(kinds.get(0));
    ClosedLoop.Operation last = lookup(kinds.get(kinds.size() - 1));
    SplittableRandom random = Data.random();
    return () -> (random.nextBoolean() ? first : last).once();
  }

  private ClosedLoop.Operation lookup(String kind) throws Exception {
    Store.RowReader reader = store.reader(TABLE);
    SplittableRandom random = Data.random();
    return switch (kind) {
      case "hit" -> () -> checked(reader.read(rows[random.nextInt(rows.length)]), CELLS);
      case "miss" -> () -> checked(reader.read(Data.randomHexRow(random)), 0);
      default -> throw new IllegalArgumentException("kind " + kind);
    };
  }

  private static int checked(int cells, int expected) {
    if (cells != expected) {
      throw new WrongAnswerException("expected " + expected + " cells, read " + cells);
    }
    return cells;
  }

  /** More clients than the server has threads for, with lookups and with scans of 1/256. */
  void overload() throws Exception {
    int clients = options.number("clients", 96);
    double seconds = options.decimal("seconds", 10);
    int repetitions = options.number("repetitions", 3);
    for (int i = 0; i < repetitions; i++) {
      measurements.level(
          "overload", "hit", new ClosedLoop(clients, 2, seconds, thread -> lookup("hit")));
    }
    for (int i = 0; i < repetitions; i++) {
      measurements.level(
          "overload", "scan", new ClosedLoop(clients, 2, seconds, thread -> shortScan()));
    }
  }

  private ClosedLoop.Operation shortScan() {
    SplittableRandom random = Data.random();
    return () -> {
      int prefix = random.nextInt(255);
      return (int) store.scan(TABLE, Data.hex(prefix, 2), Data.hex(prefix + 1, 2));
    };
  }
}
