package org.stele.tserver.tablet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.tserver.scan.ScanAnswer;
import org.stele.tserver.scan.ScanQuery;

/** A row's change is seen whole or not at all, also in batches, during flushes and compactions. */
class AtomicVisibilityTest {
  private static final int COLUMNS = 50;
  private static final int WRITERS = 16;
  private static final int WRITES = 150;
  private static final Bytes ROW = Bytes.of("r");

  @Test
  void everyReadSeesOneMutation() throws Exception {
    TabletFixture.Options options = new TabletFixture.Options();
    options.threads = 1;
    options.memtableBytes = 64 << 10;
    options.setting("table.files.max", "3");
    options.setting("table.file.block.bytes", "512B");
    options.setting("table.durability", "log");
    TabletFixture fixture = new TabletFixture(options);
    ExecutorService pool = Executors.newCachedThreadPool(task -> new Thread(task, "visibility"));
    try {
      fixture.writeNow(mutation("first"));
      AtomicInteger writing = new AtomicInteger(WRITERS);
      List<Future<Integer>> work = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        String name = "w" + i + "-";
        work.add(
            pool.submit(
                () -> {
                  for (int n = 0; n < WRITES; n++) {
                    fixture.writeNow(mutation(name + n));
                  }
                  writing.decrementAndGet();
                  return 0;
                }));
      }
      List<Future<Integer>> reads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        reads.add(pool.submit(() -> readWhile(writing, () -> check(fixture.lookup(ROW)))));
        reads.add(pool.submit(() -> readWhile(writing, () -> check(inBatches(fixture)))));
      }
      for (Future<Integer> each : work) {
        each.get(100, TimeUnit.SECONDS);
      }
      for (Future<Integer> each : reads) {
        assertTrue(each.get(100, TimeUnit.SECONDS) > 0, "reads went on");
      }
      assertTrue(fixture.tablet.counters().flushes().sum() > 3, "there were flushes");
    } finally {
      pool.shutdownNow();
      fixture.close();
    }
  }

  private static Mutation mutation(String value) {
    Mutation mutation = Mutation.of(ROW);
    for (int i = 0; i < COLUMNS; i++) {
      mutation.put("f", "q" + (100 + i), value);
    }
    return mutation;
  }

  private static int readWhile(AtomicInteger writing, Runnable read) {
    int reads = 0;
    do {
      read.run();
      reads++;
    } while (writing.get() > 0);
    return reads;
  }

  private static void check(List<Cell> cells) {
    assertEquals(COLUMNS, cells.size());
    Set<Bytes> values = new HashSet<>();
    cells.forEach(cell -> values.add(cell.value()));
    assertEquals(1, values.size(), "half of a mutation was seen");
  }

  /** Reads the row seven cells at a time; begins anew when the server says so. */
  private static List<Cell> inBatches(TabletFixture fixture) {
    while (true) {
      List<Cell> cells = readOnce(fixture);
      if (cells != null) {
        return cells;
      }
    }
  }

  private static List<Cell> readOnce(TabletFixture fixture) {
    List<Cell> cells = new ArrayList<>();
    Range range = Range.row(ROW);
    byte[] position = null;
    long sequence = 0;
    int size = 7 + ThreadLocalRandom.current().nextInt(10);
    while (true) {
      ScanAnswer answer =
          fixture.scans.scan(
              new ScanQuery(
                  TabletFixture.TABLE,
                  range.lowerKey(),
                  range.upperKey(),
                  List.of(),
                  0,
                  size,
                  0,
                  position,
                  sequence,
                  false,
                  fixture.clock.nanos() + TimeUnit.SECONDS.toNanos(60)),
              () -> false);
      if (answer.viewChanged()) {
        return null;
      }
      cells.addAll(TabletFixture.cells(answer.cells()));
      if (answer.atEnd()) {
        return cells;
      }
      position = answer.position();
      sequence = answer.rowContinues() ? answer.readSequence() : 0;
    }
  }
}
