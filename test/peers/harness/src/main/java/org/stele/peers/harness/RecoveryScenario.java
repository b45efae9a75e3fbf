package org.stele.peers.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/** Ends a server as a crash would, with a million rows in its memory and log only. */
final class RecoveryScenario {
  private static final String TABLE = "recovery";
  private static final int TABLETS = 16;

  private final Store store;
  private final Servers servers;
  private final Options options;
  private final Measurements measurements;

  RecoveryScenario(Store store, Servers servers, Options options, Measurements measurements) {
    this.store = store;
    this.servers = servers;
    this.options = options;
    this.measurements = measurements;
  }

  void run() throws Exception {
    int rows = options.number("rows", 1_000_000);
    String durability = options.text("durability", "sync");
    store.create(new Store.TableSpec(TABLE, "f", Data.hexSplits(), 0, false, durability));
    measurements.step("recovery", "write", () -> WriteScenarios.writeHexRows(store, TABLE, rows));
    long before = store.scan(TABLE);
    long files = store.files(TABLE);
    long start = System.nanoTime();
    servers.crash();
    if (options.number("replace", 1) == 1) {
      servers.replace();
    }
    List<Double> readableAfter = new ArrayList<>();
    try (Store probe = store.impatient()) {
      ExecutorService pool = Executors.newFixedThreadPool(TABLETS);
      List<Callable<Double>> probes = new ArrayList<>();
      for (int i = 0; i < TABLETS; i++) {
        byte[] from = Data.hex(i, 1);
        byte[] to = Data.bytes(new String(from, UTF_8) + "01");
        probes.add(
            () -> {
              untilItSucceeds(() -> probe.scan(TABLE, from, to));
              return (System.nanoTime() - start) / 1e9;
            });
      }
      for (Future<Double> done : pool.invokeAll(probes)) {
        readableAfter.add(done.get());
      }
      pool.shutdown();
    }
    long after = untilItSucceeds(() -> store.scan(TABLE));
    measurements
        .line("recovery")
        .put("cells_before", before)
        .put("cells_after", after)
        .put("data_files_before", files)
        .put("first_tablet_s", Collections.min(readableAfter), 1)
        .put("last_tablet_s", Collections.max(readableAfter), 1)
        .put("all_read_s", (System.nanoTime() - start) / 1e9, 1)
        .print();
    if (before != after) {
      throw new WrongAnswerException(before + " cells before the crash, " + after + " after it");
    }
    store.drop(TABLE);
  }

  /** Some clients wait until the server is back, others fail: those are asked again. */
  private static <T> T untilItSucceeds(Callable<T> question) throws Exception {
    long end = System.nanoTime() + 300_000_000_000L;
    while (true) {
      try {
        return question.call();
      } catch (Exception notYet) {
        if (System.nanoTime() > end) {
          throw notYet;
        }
        LockSupport.parkNanos(20_000_000L);
      }
    }
  }
}
