package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellModel;
import org.stele.core.data.Mutation;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.FileStore;
import org.stele.test.check.Conditions;

/**
 * Versions and deletes of the same columns, spread over many files that are compacted all the time:
 * no value goes back in time, no deleted cell comes back, an open scan stays as it is. Compared
 * with a model that keeps everything.
 */
class VersionsOverFilesIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final String TABLE = "versions";
  private static final int VERSIONS = 3;
  private static final int STEPS = LONG ? 400 : 40;
  private static final int ROWS = 12;
  private static final int TIMES = 20;
  private static final Bytes ROW = Bytes.of("one");

  @TempDir private Path directory;

  private final long seed = Long.getLong("stele.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final CellModel model = new CellModel();
  private long sequence = 1;

  @Test
  void readsAreThoseOfTheModelAfterEveryStep() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance =
        new CrashableInstance(directory, store, Map.of("files.grace", "0s")).start()) {
      try (SteleClient client = instance.client()) {
        client
            .tables()
            .create(TABLE, options().withSplits(List.of(Bytes.of("r04"), Bytes.of("r08"))));
      }
      for (int step = 0; step < STEPS; step++) {
        String what = "step " + step + ", seed " + seed;
        try (SteleClient client = instance.client()) {
          for (int part = 0; part < 4; part++) {
            write(client, 1 + random.nextInt(part == 0 ? 60 : 10));
            if (random.nextInt(4) > 0) {
              client.tables().flush(TABLE);
            }
            compare(client, what + ", part " + part);
          }
          scanDuringCompaction(client, what);
        }
        if (step % 8 == 7) {
          instance.kill();
          instance.start();
          try (SteleClient client = instance.client()) {
            compare(client, what + ", after kill");
          }
        }
      }
      compactedFilesGo(instance, store);
    }
  }

  private static TableOptions options() {
    return TableOptions.defaults()
        .with("table.versions", Integer.toString(VERSIONS))
        .with("table.files.max", "3")
        .with("table.file.block.bytes", "512B");
  }

  private void write(SteleClient client, int mutations) {
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      for (int i = 0; i < mutations; i++) {
        Mutation mutation = mutation();
        model.add(mutation, sequence, 0);
        sequence += mutation.updates().size();
        writer.add(mutation);
      }
    }
  }

  /** One to three updates; most are puts of a few columns at a few times. */
  private Mutation mutation() {
    Mutation mutation = Mutation.of(String.format("r%02d", random.nextInt(ROWS)));
    int updates = 1 + random.nextInt(3);
    for (int i = 0; i < updates; i++) {
      Bytes family = Bytes.of("f" + random.nextInt(2));
      Bytes qualifier = Bytes.of("q" + random.nextInt(3));
      long time = random.nextInt(TIMES);
      int kind = random.nextInt(20);
      if (kind == 0) {
        mutation.deleteRow(time);
      } else if (kind == 1) {
        mutation.deleteFamily(family, time);
      } else if (kind < 5) {
        mutation.deleteColumn(family, qualifier, Bytes.EMPTY, time);
      } else {
        mutation.put(family, qualifier, Bytes.EMPTY, time, Bytes.of("v" + sequence + "." + i));
      }
    }
    return mutation;
  }

  private void compare(SteleClient client, String what) {
    List<Cell> wanted = model.read(Long.MAX_VALUE, VERSIONS);
    List<Cell> found = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      scanner.forEach(found::add);
    }
    assertEquals(wanted, found, what);
    Bytes row = Bytes.of(String.format("r%02d", random.nextInt(ROWS)));
    assertEquals(
        model.readRow(row, Long.MAX_VALUE, VERSIONS),
        client.lookup(TABLE, row).cells(),
        () -> what + ", row " + row);
  }

  /** Half of a scan, in small batches, comes before the compaction, and half after or meanwhile. */
  private void scanDuringCompaction(SteleClient client, String what) {
    List<Cell> wanted = model.read(Long.MAX_VALUE, VERSIONS);
    List<Cell> found = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE).batchCells(1 + random.nextInt(7)).open()) {
      Iterator<Cell> cells = scanner.iterator();
      for (int i = 0; i < wanted.size() / 2 && cells.hasNext(); i++) {
        found.add(cells.next());
      }
      CompletableFuture<Void> compaction =
          CompletableFuture.runAsync(
              () -> {
                if (random.nextInt(3) == 0) {
                  client.tables().compact(TABLE);
                } else {
                  client.tables().flush(TABLE);
                }
              });
      cells.forEachRemaining(found::add);
      compaction.join();
    }
    assertEquals(wanted, found, () -> what + ", scanned during a compaction");
  }

  private static void compactedFilesGo(CrashableInstance instance, FileStore store)
      throws Exception {
    try (SteleClient client = instance.client()) {
      client.tables().compact(TABLE);
      String tableId = client.tables().describe(TABLE).id();
      Conditions.await(
          "only the last file of each tablet is there",
          Duration.ofSeconds(60),
          () -> store.list("tables/" + tableId).size() <= 3);
    }
  }

  @Test
  void manyVersionsOfOneKey() throws Exception {
    int versions = LONG ? 100_000 : 6_000;
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = new CrashableInstance(directory, store, Map.of()).start()) {
      try (SteleClient client = instance.client()) {
        client.tables().create("deep", options().with("table.versions", "1000000"));
        try (BatchWriter writer = client.batchWriter("deep")) {
          for (int i = 1; i <= versions; i++) {
            writer.add(version(i));
            if (i % (versions / 5) == 0) {
              writer.flush();
              client.tables().flush("deep");
            }
          }
        }
        assertVersions(client, versions, "in files");
        client.tables().compact("deep");
        assertVersions(client, versions, "in one file");
        long middle = versions / 2;
        client.write(
            "deep",
            Mutation.of(ROW).deleteColumn(Bytes.of("f"), Bytes.of("q"), Bytes.EMPTY, middle));
        assertEquals(versions - middle, count(client));
        client.tables().flush("deep");
        client.tables().compact("deep");
        assertEquals(versions - middle, count(client));
      }
      instance.kill();
      instance.start();
      try (SteleClient client = instance.client()) {
        assertEquals(versions - versions / 2, count(client));
        assertTrue(client.lookup("deep", ROW).cells().size() > 0);
      }
    }
  }

  private static Mutation version(int time) {
    return Mutation.of(ROW)
        .put(Bytes.of("f"), Bytes.of("q"), Bytes.EMPTY, (long) time, Bytes.of("version " + time));
  }

  private static void assertVersions(SteleClient client, int versions, String what) {
    long wanted = versions;
    try (Scanner scanner = client.scanner("deep").open()) {
      for (Cell cell : scanner) {
        assertEquals(wanted, cell.timestamp(), what);
        assertEquals("version " + wanted, cell.value().toUtf8(), what);
        wanted--;
      }
    }
    assertEquals(0, wanted, what);
  }

  private static long count(SteleClient client) {
    long count = 0;
    try (Scanner scanner = client.scanner("deep").open()) {
      for (Cell cell : scanner) {
        assertTrue(cell.timestamp() > 0);
        count++;
      }
    }
    return count;
  }
}
