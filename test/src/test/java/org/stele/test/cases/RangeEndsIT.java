package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bound;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellModel;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.test.process.StandaloneServer;

/**
 * The ends of ranges: with and without the end, equal ends, prefixes that end with ff and have no
 * successor, ends that are ends of tablets, bounds of any number of parts. Compared with all cells,
 * filtered.
 */
class RangeEndsIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final byte[] BYTES = {0, 1, 0x7f, (byte) 0x80, (byte) 0xfe, (byte) 0xff};
  private static final String ONE_TABLET = "onetablet";
  private static final String TABLETS = "tablets";
  private static final int RANDOM_RANGES = LONG ? 20_000 : 400;

  @TempDir private Path directory;

  private final long seed = Long.getLong("stele.seed", new Random().nextLong());
  private final List<Bytes> rows = new ArrayList<>();
  private final List<Bytes> sample = new ArrayList<>();
  private final List<Cell> cells = new ArrayList<>();

  @Test
  void rangesGiveExactlyTheirCells() throws Exception {
    makeRows();
    try (StandaloneServer server =
            StandaloneServer.startedShortLived(directory.resolve("data"), Map.of());
        SteleClient client = server.client()) {
      client.tables().create(ONE_TABLET, TableOptions.defaults().with("table.versions", "2"));
      client
          .tables()
          .create(TABLETS, TableOptions.defaults().with("table.versions", "2").withSplits(sample));
      write(client);
      check(client, "in memory");
      client.tables().flush(ONE_TABLET);
      client.tables().flush(TABLETS);
      check(client, "in files");
    }
  }

  /** All rows of one to three of the bytes; every seventh is where a tablet ends. */
  private void makeRows() {
    for (byte a : BYTES) {
      rows.add(Bytes.of(new byte[] {a}));
      for (byte b : BYTES) {
        rows.add(Bytes.of(new byte[] {a, b}));
        for (byte c : BYTES) {
          rows.add(Bytes.of(new byte[] {a, b, c}));
        }
      }
    }
    for (int i = 0; i < rows.size(); i += LONG ? 7 : 19) {
      sample.add(rows.get(i));
    }
    sample.add(rows.get(rows.size() - 1)); // ff ff ff
  }

  private void write(SteleClient client) {
    List<Bytes> parts = List.of(Bytes.EMPTY, Bytes.of(new byte[] {0}), Bytes.of(new byte[] {-1}));
    for (String table : List.of(ONE_TABLET, TABLETS)) {
      try (BatchWriter writer = client.batchWriter(table)) {
        for (Bytes row : rows) {
          Mutation mutation = Mutation.of(row);
          for (Bytes family : parts) {
            for (Bytes qualifier : parts) {
              mutation.put(family, qualifier, Bytes.EMPTY, 1L, Bytes.of("old"));
              mutation.put(family, qualifier, Bytes.EMPTY, 2L, Bytes.of("new"));
            }
          }
          writer.add(mutation);
        }
      }
    }
    for (Bytes row : rows) {
      for (Bytes family : parts) {
        for (Bytes qualifier : parts) {
          cells.add(new Cell(row, family, qualifier, Bytes.EMPTY, 2, Bytes.of("new")));
          cells.add(new Cell(row, family, qualifier, Bytes.EMPTY, 1, Bytes.of("old")));
        }
      }
    }
  }

  private void check(SteleClient client, String state) {
    for (String table : List.of(ONE_TABLET, TABLETS)) {
      Reads reads = new Reads(client, table, state);
      checkPrefixes(reads);
      checkRowRanges(reads);
      checkRandomRanges(reads, new Random(seed));
    }
  }

  private void checkPrefixes(Reads reads) {
    List<Bytes> prefixes = new ArrayList<>(rows.stream().filter(row -> row.length() < 3).toList());
    prefixes.add(Bytes.EMPTY);
    prefixes.add(Bytes.of("aa"));
    for (Bytes prefix : prefixes) {
      List<Cell> wanted = cells.stream().filter(cell -> cell.row().startsWith(prefix)).toList();
      reads.compare(wanted, Range.prefix(prefix));
    }
  }

  private void checkRowRanges(Reads reads) {
    for (Bytes start : sample) {
      for (Bytes stop : sample) {
        for (int ends = 0; ends < 4; ends++) {
          boolean withStart = (ends & 1) != 0;
          boolean withStop = (ends & 2) != 0;
          if (start.compareTo(stop) > 0) {
            assertThrows(
                IllegalArgumentException.class, () -> Range.rows(start, withStart, stop, withStop));
          } else {
            reads.compare(Range.rows(start, withStart, stop, withStop));
          }
        }
      }
      reads.compare(Range.rows(start, null));
      reads.compare(Range.rows(null, start));
      reads.compare(Range.row(start));
    }
  }

  /** Bounds of one to four parts, some with a time, at cells and beside them. */
  private void checkRandomRanges(Reads reads, Random random) {
    for (int i = 0; i < RANDOM_RANGES; i++) {
      Bound start = random.nextInt(8) == 0 ? null : bound(random);
      Bound stop = random.nextInt(8) == 0 ? null : bound(random);
      Range range;
      try {
        range = new Range(start, stop);
      } catch (IllegalArgumentException e) {
        range = new Range(stop, start);
      }
      reads.compare(range);
    }
  }

  private Bound bound(Random random) {
    Cell cell = cells.get(random.nextInt(cells.size()));
    Bytes row = random.nextInt(4) == 0 ? sample.get(random.nextInt(sample.size())) : cell.row();
    List<Bytes> parts = List.of(row, cell.family(), cell.qualifier(), cell.visibility());
    int count = 1 + random.nextInt(4);
    Long time =
        count == 4 && random.nextBoolean()
            ? List.of(0L, 1L, 2L, 3L, Long.MIN_VALUE, Long.MAX_VALUE).get(random.nextInt(6))
            : null;
    return new Bound(parts.subList(0, count), time, random.nextBoolean());
  }

  private final class Reads {
    private final SteleClient client;
    private final String table;
    private final String state;

    Reads(SteleClient client, String table, String state) {
      this.client = client;
      this.table = table;
      this.state = state;
    }

    void compare(Range range) {
      compare(cells.stream().filter(cell -> CellModel.isInRange(cell, range)).toList(), range);
    }

    void compare(List<Cell> wanted, Range range) {
      List<Cell> found = new ArrayList<>();
      try (Scanner scanner = client.scanner(table).range(range).open()) {
        scanner.forEach(found::add);
      }
      assertEquals(wanted, found, () -> table + ", " + state + ", " + range + ", seed " + seed);
    }
  }
}
