package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.CellModel;
import org.stele.core.data.Column;
import org.stele.core.data.Mutation;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.test.process.StandaloneServer;

/**
 * Bytes are unsigned, and an empty part is a part: rows with bytes from 80 to ff come last, also
 * where a tablet ends at 80 or 00; an empty family, qualifier, visibility or value is not an absent
 * one. The same in memory and in files.
 */
class ByteOrderIT {
  private static final String WHOLE = "whole";
  private static final String SPLIT = "split";

  /** Every part of a key takes each of these; a row takes all but the empty one. */
  private static final List<Bytes> PARTS =
      Stream.concat(
              Stream.of(
                      "", "00", "0000", "00ff", "01", "0100", "61", "6100", "62", "7f", "80", "ff",
                      "ffff", "c3a9", "e282ac")
                  .map(ByteOrderIT::hex),
              Stream.of(Bytes.wrap(filled(1024, 0xff))))
          .toList();

  private static final List<Bytes> ROWS = PARTS.stream().filter(part -> !part.isEmpty()).toList();

  @TempDir private Path directory;

  private final List<Cell> expected = new ArrayList<>();

  @Test
  void readsAreTheSameInEveryState() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.startedShortLived(directory.resolve("data"), Map.of())) {
      try (SteleClient client = server.client()) {
        client.tables().create(WHOLE);
        client
            .tables()
            .create(SPLIT, TableOptions.defaults().withSplits(List.of(hex("00"), hex("80"))));
        write(client);
      }
      DataStates.visit(server, this::check, WHOLE, SPLIT);
    }
  }

  @Test
  void anEmptyRowIsRefusedByName() {
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> Mutation.of(Bytes.EMPTY))
            .getMessage()
            .contains("row is empty"));
  }

  /**
   * Every row has a cell for each pair of family and qualifier; values and visibilities go round.
   */
  private void write(SteleClient client) {
    List<Bytes> rows = new ArrayList<>(ROWS);
    Collections.reverse(rows);
    int number = 0;
    for (String table : List.of(WHOLE, SPLIT)) {
      try (BatchWriter writer = client.batchWriter(table)) {
        for (Bytes row : rows) {
          Mutation mutation = Mutation.of(row);
          for (Bytes family : PARTS) {
            for (Bytes qualifier : PARTS) {
              Bytes visibility = PARTS.get(number % PARTS.size());
              Bytes value = PARTS.get((number / 3) % PARTS.size());
              mutation.put(family, qualifier, visibility, 7L, value);
              if (table.equals(WHOLE)) {
                expected.add(new Cell(row, family, qualifier, visibility, 7, value));
              }
              number++;
            }
          }
          writer.add(mutation);
        }
      }
      number = 0;
    }
    expected.sort(
        (a, b) -> {
          int order = compare(a.row(), b.row());
          order = order != 0 ? order : compare(a.family(), b.family());
          order = order != 0 ? order : compare(a.qualifier(), b.qualifier());
          return order != 0 ? order : compare(a.visibility(), b.visibility());
        });
  }

  /** Not by {@link Bytes#compareTo}, which is under test. */
  private static int compare(Bytes a, Bytes b) {
    for (int i = 0; i < Math.min(a.length(), b.length()); i++) {
      int order = Integer.compare(a.at(i) & 0xff, b.at(i) & 0xff);
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(a.length(), b.length());
  }

  private void check(SteleClient client, String state) {
    for (String table : List.of(WHOLE, SPLIT)) {
      String what = table + ", " + state;
      assertEquals(expected, scan(client, table, Range.all()), what);
      for (Bytes row : ROWS) {
        checkRow(client, table, row, what);
      }
      checkRanges(client, table, what);
    }
  }

  private void checkRow(SteleClient client, String table, Bytes row, String what) {
    assertEquals(of(row), client.lookup(table, row).cells(), () -> what + ", row " + row);
    for (Bytes family : PARTS) {
      List<Cell> found = client.lookup(table, row, List.of(new Column(family, null))).cells();
      assertEquals(
          of(row).stream().filter(cell -> cell.family().equals(family)).toList(),
          found,
          () -> what + ", row " + row + " family " + family);
    }
    Row empties = client.lookup(table, row, List.of(new Column(Bytes.EMPTY, Bytes.EMPTY)));
    assertNotNull(empties.get(Bytes.EMPTY, Bytes.EMPTY), () -> what + ", row " + row);
    Bytes absent = Bytes.wrap(Arrays.copyOf(row.toArray(), row.length() + 2));
    if (!ROWS.contains(absent)) {
      assertNull(
          client.lookup(table, absent).get(Bytes.EMPTY, Bytes.EMPTY),
          () -> what + ", row " + absent);
    }
  }

  private List<Cell> of(Bytes row) {
    return expected.stream().filter(cell -> cell.row().equals(row)).toList();
  }

  private void checkRanges(SteleClient client, String table, String what) {
    for (Bytes start : ROWS) {
      for (Bytes stop : List.of(hex("00"), hex("6100"), hex("80"), hex("ff"))) {
        if (compare(start, stop) <= 0) {
          Range range = Range.rows(start, false, stop, true);
          assertEquals(
              expected.stream().filter(cell -> CellModel.isInRange(cell, range)).toList(),
              scan(client, table, range),
              () -> what + ", range " + range);
        } else {
          assertThrows(IllegalArgumentException.class, () -> Range.rows(start, true, stop, true));
        }
      }
    }
  }

  private static List<Cell> scan(SteleClient client, String table, Range range) {
    List<Cell> cells = new ArrayList<>();
    try (Scanner scanner = client.scanner(table).range(range).open()) {
      scanner.forEach(cells::add);
    }
    return cells;
  }

  private static byte[] filled(int length, int with) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) with);
    return bytes;
  }

  private static Bytes hex(String text) {
    return Bytes.wrap(HexFormat.of().parseHex(text));
  }
}
