package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.DataLimits;
import org.stele.core.data.LimitException;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.test.process.StandaloneServer;

/**
 * Keys and values up to their limits work from end to end; what is above is refused by name before
 * it is sent, and takes nothing else down. Long rows with long common beginnings make no endless
 * loop and no endless index.
 */
class LargeKeysIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final String TABLE = "large";
  private static final String SIMILAR = "similar";
  private static final int SIMILAR_ROWS = LONG ? 10_000 : 300;
  private static final int SIMILAR_BYTES = 64 << 10;

  /** Lengths around those at which buffers grow and counts need another byte. */
  private static final List<Integer> LENGTHS =
      List.of(
          127,
          128,
          (16 << 10) - 1,
          16 << 10,
          (32 << 10) - 1,
          32 << 10,
          (64 << 10) - 1,
          64 << 10,
          (64 << 10) + 1,
          (1 << 20) - 3);

  @TempDir private Path directory;

  private final Map<Bytes, Mutation> written = new TreeMap<>();

  @Test
  void allThatIsWithinTheLimitsWorks() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.startedShortLived(directory.resolve("data"), Map.of())) {
      try (SteleClient client = server.client()) {
        client.tables().create(TABLE);
        client
            .tables()
            .create(
                SIMILAR, TableOptions.defaults().withSplits(List.of(similar(SIMILAR_ROWS / 2))));
        writeLarge(client);
        writeSimilar(client);
      }
      DataStates.visit(server, LargeKeysIT.this::check, TABLE, SIMILAR);
    }
  }

  @Test
  void whatIsAboveALimitIsRefusedByName() {
    Bytes tooLong = bytes(DataLimits.MAX_KEY_BYTES - 1, 1);
    assertRefused(
        DataLimits.MAX_KEY_BYTES,
        () -> Mutation.of(tooLong).put(Bytes.of("f"), Bytes.of("q"), Bytes.EMPTY));
    assertRefused(
        DataLimits.MAX_KEY_BYTES, () -> Mutation.of("r").put(Bytes.of("f"), tooLong, Bytes.EMPTY));
    assertRefused(
        DataLimits.MAX_VALUE_BYTES,
        () ->
            Mutation.of("r")
                .put(Bytes.of("f"), Bytes.of("q"), bytes(DataLimits.MAX_VALUE_BYTES + 1, 2)));
    Mutation mutation = Mutation.of("r");
    Bytes half = bytes(DataLimits.MAX_MUTATION_BYTES / 2, 3);
    mutation.put(Bytes.of("f"), Bytes.of("1"), half);
    assertRefused(
        DataLimits.MAX_MUTATION_BYTES, () -> mutation.put(Bytes.of("f"), Bytes.of("2"), half));
    assertEquals(1, mutation.updates().size(), "what is refused changes nothing");
  }

  private static void assertRefused(int limit, Runnable refused) {
    String message = assertThrows(LimitException.class, refused::run).getMessage();
    assertTrue(message.contains(Integer.toString(limit)), message);
  }

  private void writeLarge(SteleClient client) {
    Bytes f = Bytes.of("f");
    for (int length : LENGTHS) {
      add(Mutation.of(bytes(length, 10)).put(f, Bytes.of("q"), Bytes.of("long row")));
      add(Mutation.of("row of " + length).put(f, bytes(length - 20, 11), Bytes.of("qualifier")));
      add(Mutation.of("fam of " + length).put(bytes(length - 20, 12), f, Bytes.of("family")));
    }
    // The largest key of all, with zeros, which take two bytes each in encoded keys.
    add(
        Mutation.of(Bytes.wrap(new byte[DataLimits.MAX_KEY_BYTES - 2]))
            .put(f, Bytes.of("q"), Bytes.of("zeros")));
    add(Mutation.of("value").put(f, Bytes.of("q"), bytes(DataLimits.MAX_VALUE_BYTES, 13)));
    Bytes large = bytes(DataLimits.MAX_MUTATION_BYTES / 2 - 50, 14);
    add(Mutation.of("whole").put(f, Bytes.of("1"), large).put(f, Bytes.of("2"), large));
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      // One that is refused, among the others, takes none of them with it.
      int number = 0;
      for (Mutation mutation : written.values()) {
        writer.add(mutation);
        if (number++ % 10 == 0) {
          assertThrows(
              LimitException.class,
              () ->
                  writer.add(
                      Mutation.of(bytes(DataLimits.MAX_KEY_BYTES + 1, 15)).put("f", "q", "v")));
        }
      }
    }
  }

  private void add(Mutation mutation) {
    written.put(mutation.row(), mutation);
  }

  private static void writeSimilar(SteleClient client) {
    try (BatchWriter writer = client.batchWriter(SIMILAR)) {
      for (int i = 0; i < SIMILAR_ROWS; i++) {
        writer.add(Mutation.of(similar(i)).put("f", "q", "value " + i));
      }
    }
  }

  private void check(SteleClient client, String state) {
    for (Mutation mutation : written.values()) {
      Row row = client.lookup(TABLE, mutation.row());
      assertEquals(
          values(mutation), values(row.cells()), () -> state + ", " + mutation.row().length());
    }
    Map<Bytes, Map<Bytes, Bytes>> found = new LinkedHashMap<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      for (Cell cell : scanner) {
        found
            .computeIfAbsent(cell.row(), row -> new TreeMap<>())
            .put(cell.qualifier(), cell.value());
      }
    }
    assertEquals(List.copyOf(written.keySet()), List.copyOf(found.keySet()), state);
    written.forEach((row, mutation) -> assertEquals(values(mutation), found.get(row), state));
    checkSimilar(client, state);
  }

  private static void checkSimilar(SteleClient client, String state) {
    int number = 0;
    try (Scanner scanner = client.scanner(SIMILAR).open()) {
      for (Cell cell : scanner) {
        assertEquals(similar(number), cell.row(), state);
        assertEquals("value " + number, cell.value().toUtf8(), state);
        number++;
      }
    }
    assertEquals(SIMILAR_ROWS, number, state);
    for (int i = 0; i < SIMILAR_ROWS; i += 37) {
      assertEquals(
          "value " + i, client.lookup(SIMILAR, similar(i)).cells().get(0).value().toUtf8());
    }
  }

  private static Map<Bytes, Bytes> values(Mutation mutation) {
    Map<Bytes, Bytes> values = new TreeMap<>();
    mutation.updates().forEach(update -> values.put(update.qualifier(), update.value()));
    return values;
  }

  private static Map<Bytes, Bytes> values(List<Cell> cells) {
    Map<Bytes, Bytes> values = new TreeMap<>();
    List<Cell> all = new ArrayList<>(cells);
    all.forEach(cell -> values.put(cell.qualifier(), cell.value()));
    return values;
  }

  /** A long row that differs from the others at its end. */
  private static Bytes similar(int number) {
    byte[] row = new byte[SIMILAR_BYTES];
    Arrays.fill(row, (byte) 's');
    byte[] end = String.format("%08d", number).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    System.arraycopy(end, 0, row, row.length - end.length, end.length);
    return Bytes.wrap(row);
  }

  private static Bytes bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return Bytes.wrap(bytes);
  }
}
