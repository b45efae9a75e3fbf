package org.stele.test.cases;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.file.CrashableFileStore;

/**
 * A log that ends anywhere within its last records, as a power cut leaves it: the server starts,
 * every record before the cut is there, nothing of those behind it is, and what is written next
 * survives the next kill.
 */
class TornTailIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final String TABLE = "torn";
  private static final int RECORDS = 20;
  private static final int CUT_RECORDS = 3;
  private static final int NEW_RECORDS = 5;
  private static final int SHORT_CUTS = 10;

  /** A file that was reserved ahead has zeros behind what was written. */
  private static final int RESERVED = 4096;

  private static final int GROUP_HEADER = 40;

  @TempDir private Path directory;

  private final long seed = Long.getLong("stele.seed", new Random().nextLong());
  private final Random random = new Random(seed);

  /** Where the log ends after each record. */
  private final List<Integer> ends = new ArrayList<>();

  private final CrashableFileStore saved = new CrashableFileStore();
  private String log = "";
  private byte[] whole = new byte[0];

  @Test
  void everyCutIsATornTail() throws Exception {
    writeAndKill();
    for (int cut : cuts()) {
      restoreCutAndCompare(cut, random.nextBoolean());
    }
  }

  private void writeAndKill() throws Exception {
    try (CrashableInstance instance =
        new CrashableInstance(directory.resolve("saved"), saved, Map.of()).start()) {
      try (SteleClient client = instance.client()) {
        client.tables().create(TABLE);
        for (int i = 0; i < RECORDS; i++) {
          client.write(TABLE, mutation(i));
          log = onlyLog(saved);
          ends.add(saved.contents(log).length);
        }
      }
      instance.kill();
    }
    // Behind that, the server that was killed may have begun to write the end of the log.
    whole = Arrays.copyOf(saved.contents(log), ends.get(RECORDS - 1));
  }

  private static String onlyLog(CrashableFileStore store) throws IOException {
    String session = store.list("wal").get(0).name();
    List<String> names =
        store.list("wal/" + session + "/data").stream().map(entry -> entry.name()).toList();
    assertEquals(List.of("00000001.wal"), names);
    return "wal/" + session + "/data/" + names.get(0);
  }

  private SortedSet<Integer> cuts() {
    int first = ends.get(RECORDS - 1 - CUT_RECORDS);
    int last = ends.get(RECORDS - 1);
    TreeSet<Integer> cuts = new TreeSet<>();
    if (LONG) {
      for (int cut = first; cut <= last; cut++) {
        cuts.add(cut);
      }
      return cuts;
    }
    // The beginning of a record, its first and its last byte, and some between.
    int begin = ends.get(RECORDS - 2);
    cuts.addAll(List.of(begin, begin + 1, last - 1, last));
    while (cuts.size() < SHORT_CUTS) {
      cuts.add(first + random.nextInt(last - first));
    }
    return cuts;
  }

  private void restoreCutAndCompare(int cut, boolean zerosBehind) throws Exception {
    String what = "cut at " + cut + (zerosBehind ? " with zeros behind" : "") + ", seed " + seed;
    Path instanceDirectory = directory.resolve("cut-" + cut);
    copy(directory.resolve("saved"), instanceDirectory);
    CrashableFileStore store = saved.copy();
    byte[] kept = Arrays.copyOf(whole, cut);
    store.setContents(log, zerosBehind ? Arrays.copyOf(kept, cut + RESERVED) : kept);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      if (ends.get(i) <= cut) {
        expected.add(row(i));
      }
    }
    try (CrashableInstance instance =
        new CrashableInstance(instanceDirectory, store, Map.of()).start()) {
      try (SteleClient client = instance.client()) {
        assertEquals(expected, rows(client), what);
        for (int i = RECORDS; i < RECORDS + NEW_RECORDS; i++) {
          client.write(TABLE, mutation(i));
          expected.add(row(i));
        }
      }
      assertDroppedBytesAreLogged(cut, what);
      instance.kill();
      instance.start();
      try (SteleClient client = instance.client()) {
        assertEquals(expected, rows(client), what + ", after another kill");
      }
    }
  }

  private void assertDroppedBytesAreLogged(int cut, String what) throws IOException {
    int end = ends.stream().filter(each -> each <= cut).reduce((a, b) -> b).orElseThrow();
    // Bytes that happen to be zero at the end cannot be told from reserved ones.
    int written = cut;
    while (written > end && whole[written - 1] == 0) {
      written--;
    }
    // The header of a group that has no record yet is whole.
    int headerEnd = end + GROUP_HEADER;
    int dropsFrom = written >= headerEnd ? headerEnd : end;
    if (written > dropsFrom) {
      String line = "dropped " + (written - dropsFrom) + " bytes behind offset " + dropsFrom;
      try (Stream<String> lines = Files.lines(Path.of(System.getProperty("stele.test.log")))) {
        assertTrue(
            lines.anyMatch(each -> each.contains(line)), () -> what + ": nobody says " + line);
      }
    }
  }

  private static Mutation mutation(int number) {
    return Mutation.of(row(number)).put("f", "q", "value " + number).put("f", "z", "end");
  }

  private static String row(int number) {
    return String.format("row%03d", number);
  }

  /** The rows, each of which has to be whole. */
  private static List<String> rows(SteleClient client) {
    List<String> rows = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      for (Cell cell : scanner) {
        String row = cell.row().toUtf8();
        if (cell.qualifier().toUtf8().equals("q")) {
          assertEquals(
              "value " + Integer.parseInt(row.substring(3)),
              new String(cell.value().toArray(), UTF_8));
          rows.add(row);
        } else {
          assertEquals(rows.get(rows.size() - 1), row);
        }
      }
    }
    return rows;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : paths.toList()) {
        Files.copy(path, to.resolve(from.relativize(path).toString()));
      }
    }
  }
}
