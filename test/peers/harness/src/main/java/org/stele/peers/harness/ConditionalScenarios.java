package org.stele.peers.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Writes that first compare a column of the row. */
final class ConditionalScenarios {
  private static final String FAMILY = "meta";

  private final Store store;
  private final Options options;
  private final Measurements measurements;

  ConditionalScenarios(Store store, Options options, Measurements measurements) {
    this.store = store;
    this.options = options;
    this.measurements = measurements;
  }

  /** One conditional mutation at a time. */
  void single() throws Exception {
    String durability = options.text("durability", "sync");
    store.create(
        new Store.TableSpec("conditional", FAMILY, Data.byteSplits(), 0, true, durability));
    ClosedLoop.OperationFactory factory =
        thread -> new Advance(store.conditionalWriter("conditional"));
    double warm = options.decimal("warm", 8);
    if (warm > 0) {
      measurements.level("warm-up", durability, new ClosedLoop(16, 0, warm, factory));
    }
    for (int threads : options.numbers("levels", "1,16")) {
      measurements.level(
          "conditional",
          durability,
          new ClosedLoop(threads, 1, options.decimal("seconds", 8), factory));
    }
    store.drop("conditional");
  }

  /** Advances 64 rows of its own in turn; nobody else changes them, so each must succeed. */
  private static final class Advance implements ClosedLoop.Operation, AutoCloseable {
    private final Store.ConditionalWriter writer;
    private final byte[][] rows = new byte[64][];
    private final long[] sequences = new long[64];
    private int next;

    Advance(Store.ConditionalWriter writer) {
      this.writer = writer;
      SplittableRandom random = Data.random();
      for (int i = 0; i < rows.length; i++) {
        rows[i] = Data.randomBytes(random, 16);
      }
    }

    @Override
    public int once() throws Exception {
      int i = next++ % rows.length;
      if (writer.advance(List.of(rows[i]), sequences[i]) != 1) {
        return -1;
      }
      sequences[i]++;
      return 1;
    }

    @Override
    public void close() throws Exception {
      writer.close();
    }
  }

  /** Batches of 10,000 rows, first in memory, then after a flush. */
  void batches() throws Exception {
    String durability = options.text("durability", "sync");
    store.create(new Store.TableSpec("batches", FAMILY, List.of(), 0, true, durability));
    List<byte[]> rows = new ArrayList<>();
    for (int i = 0; i < options.number("rows", 10_000); i++) {
      rows.add(Data.bytes("r%07d".formatted(i)));
    }
    try (Store.ConditionalWriter writer = store.conditionalWriter("batches")) {
      writer.advance(rows, 0);
      measurements.step("conditional-batches", "in memory", () -> advance(writer, rows, 1));
      store.flush("batches");
      measurements.step("conditional-batches", "flushed", () -> advance(writer, rows, 21));
    }
    store.drop("batches");
  }

  private static long advance(Store.ConditionalWriter writer, List<byte[]> rows, long first)
      throws Exception {
    long changed = 0;
    for (long sequence = first; sequence < first + 20; sequence++) {
      changed += writer.advance(rows, sequence);
    }
    if (changed != 20L * rows.size()) {
      throw new WrongAnswerException("only " + changed + " conditional mutations were accepted");
    }
    return changed;
  }
}
