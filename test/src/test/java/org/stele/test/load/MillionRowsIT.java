package org.stele.test.load;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.stele.test.process.StandaloneServer;

/**
 * A file of a million lines, loaded by the command line, is there exactly, before and after a
 * restart.
 */
class MillionRowsIT {
  private static final int ROWS = 1_000_000;
  private static final int LOOKUPS = 1000;
  private static final int PER_COMMAND = 100;

  @TempDir private Path directory;

  @Test
  @Timeout(600)
  void aLoadedFileIsThereExactly() throws Exception {
    Path file = directory.resolve("million.tsv");
    write(file);
    try (StandaloneServer server = StandaloneServer.started(directory.resolve("data"), Map.of())) {
      server.stele("table", "create", "million").orFail();
      server.stele("load", "million", file.toString(), "--row", "id").orFail();
      check(server);
      server.stele("restart").orFail();
      check(server);
    }
  }

  private static void check(StandaloneServer server) {
    List<Integer> wanted = new Random(1).ints(LOOKUPS, 0, ROWS).boxed().toList();
    for (int from = 0; from < LOOKUPS; from += PER_COMMAND) {
      List<String> command = new ArrayList<>(List.of("lookup", "million"));
      List<String> expected = new ArrayList<>();
      for (int number : wanted.subList(from, from + PER_COMMAND)) {
        String[] fields = fields(number);
        command.add(fields[0]);
        expected.add(fields[0] + "\tf:colour\t" + fields[1]);
        expected.add(fields[0] + "\tg:size\t" + fields[2]);
      }
      assertEquals(expected, server.stele(command.toArray(String[]::new)).orFail().lines());
    }
    assertEquals(
        ROWS + " rows, " + 2 * ROWS + " cells",
        server.stele("scan", "million", "--count").orFail().out().strip());
  }

  private static void write(Path file) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      out.write("id\tcolour\tg:size\n");
      for (int i = 0; i < ROWS; i++) {
        out.write(String.join("\t", fields(i)));
        out.write('\n');
      }
    }
  }

  /** The fields of a line, from its number alone; rows are in no order. */
  private static String[] fields(int number) {
    SplittableRandom random = new SplittableRandom(number);
    return new String[] {
      String.format("%08x", Integer.reverse(number)),
      "colour " + random.nextInt(1 << 20),
      Long.toString(random.nextLong())
    };
  }
}
