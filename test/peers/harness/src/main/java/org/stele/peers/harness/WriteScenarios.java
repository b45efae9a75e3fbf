package org.stele.peers.harness;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Loading in bulk, single commits, and many writers that flush in groups. */
final class WriteScenarios {
  private static final String FAMILY = "f";

  private final Store store;
  private final Options options;
  private final Measurements measurements;

  WriteScenarios(Store store, Options options, Measurements measurements) {
    this.store = store;
    this.options = options;
    this.measurements = measurements;
  }

  /** A million rows of 100 bytes: written, scanned from memory, flushed, compacted, scanned. */
  void bulkLoad() throws Exception {
    int rows = options.number("rows", 1_000_000);
    List<byte[]> splits = Data.hexSplits();
    String durability = options.text("durability", "flush");
    for (int i = 0; i < options.number("repetitions", 1); i++) {
      store.create(new Store.TableSpec("bulk", FAMILY, splits, 0, true, durability));
      measurements.step("bulkload", "write", () -> writeHexRows(store, "bulk", rows));
      measurements.step("bulkload", "scan from memory", () -> store.scan("bulk"));
      measurements.step(
          "bulkload",
          "flush",
          () -> {
            store.flush("bulk");
            return rows;
          });
      measurements.step(
          "bulkload",
          "compact",
          () -> {
            store.compact("bulk");
            return rows;
          });
      for (int scan = 0; scan < 2; scan++) {
        measurements.step("bulkload", "scan", () -> store.scan("bulk"));
        measurements.step(
            "bulkload", "parallel scan", () -> store.parallelScan("bulk", splits, 16));
      }
      store.drop("bulk");
    }
  }

  /** Random rows of hexadecimal digits with a value of 100 random bytes. */
  static long writeHexRows(Store store, String table, int rows) throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    byte[] family = Data.bytes(FAMILY);
    byte[] qualifier = Data.bytes("q");
    try (Store.Writer writer = store.writer(table, 0)) {
      for (int i = 0; i < rows; i++) {
        Store.Cell cell = new Store.Cell(family, qualifier, Data.randomBytes(random, 100));
        writer.add(store.mutation(Data.randomHexRow(random), cell));
      }
    }
    return rows;
  }

  /** Every thread writes one mutation and waits for it. */
  void commits() throws Exception {
    for (String durability : options.words("durability", "sync")) {
      store.create(table("commits", durability));
      ClosedLoop.OperationFactory factory = thread -> new Commit(store.writer("commits", 1));
      double warm = options.decimal("warm", 8);
      if (warm > 0) {
        measurements.level("warm-up", durability, new ClosedLoop(16, 0, warm, factory));
      }
      for (int threads : options.numbers("levels", "1,4,16,64")) {
        measurements.level(
            "commits",
            durability,
            new ClosedLoop(threads, 1, options.decimal("seconds", 8), factory));
      }
      store.drop("commits");
    }
  }

  private final class Commit implements ClosedLoop.Operation, AutoCloseable {
    private final Store.Writer writer;
    private final SplittableRandom random = Data.random();

    Commit(Store.Writer writer) {
      this.writer = writer;
    }

    @Override
    public int once() throws Exception {
      writer.commit(randomMutation(random));
      return 1;
    }

    @Override
    public void close() throws Exception {
      writer.close();
    }
  }

  /** Writers that share the mutations, each with 256 flushes; the first repetition warms. */
  void groupCommit() throws Exception {
    int mutations = options.number("mutations", 262_144);
    int flushes = options.number("flushes", 256);
    String durability = options.text("durability", "sync");
    for (int i = 0; i < options.number("repetitions", 3); i++) {
      for (int threads : options.numbers("levels", "1,2,4,8,16,32,64")) {
        store.create(table("group", durability));
        int batch = mutations / threads / flushes;
        measurements.step(
            "groupcommit", threads + " threads", () -> writeGroups(threads, flushes, batch));
        store.drop("group");
      }
    }
  }

  private long writeGroups(int threads, int flushes, int batch) throws Exception {
    Callable<Long> group =
        () -> {
          SplittableRandom random = Data.random();
          try (Store.Writer writer = store.writer("group", 1)) {
            for (int i = 0; i < flushes; i++) {
              Store.Mutation mutation = randomMutation(random);
              for (int j = 0; j < batch; j++) {
                writer.add(mutation);
              }
              writer.flush();
            }
          }
          return (long) flushes * batch;
        };
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      long written = 0;
      for (Future<Long> done : pool.invokeAll(Collections.nCopies(threads, group))) {
        written += done.get();
      }
      return written;
    } finally {
      pool.shutdown();
    }
  }

  /** Half a million tiny mutations of one writer, with 100 flushes, at each durability. */
  void durability() throws Exception {
    int mutations = options.number("mutations", 500_000);
    byte[] family = Data.bytes(FAMILY);
    byte[] empty = new byte[0];
    for (int repetition = 0; repetition < options.number("repetitions", 2); repetition++) {
      for (String durability : options.words("durability", "none,log,flush,sync")) {
        store.create(new Store.TableSpec("durable", FAMILY, List.of(), 0, false, durability));
        measurements.step(
            "durability",
            durability,
            () -> {
              try (Store.Writer writer = store.writer("durable", 0)) {
                for (int i = 1; i <= mutations; i++) {
                  byte[] row = Data.bytes(Integer.toString(i));
                  writer.add(store.mutation(row, new Store.Cell(family, empty, empty)));
                  if (i % (mutations / 100) == 0) {
                    writer.flush();
                  }
                }
              }
              return mutations;
            });
        store.drop("durable");
      }
    }
  }

  private static Store.TableSpec table(String name, String durability) {
    return new Store.TableSpec(name, FAMILY, Data.byteSplits(), 0, false, durability);
  }

  /** A row of 16 random bytes with three cells of 8 and 16. */
  private Store.Mutation randomMutation(SplittableRandom random) {
    byte[] family = Data.bytes(FAMILY);
    byte[] row = Data.randomBytes(random, 16);
    Store.Cell[] cells = new Store.Cell[3];
    for (int i = 0; i < cells.length; i++) {
      byte[] qualifier = Data.randomBytes(random, 8);
      cells[i] = new Store.Cell(family, qualifier, Data.randomBytes(random, 16));
    }
    return store.mutation(row, cells);
  }
}
