package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.test.process.StandaloneServer;

/**
 * Order decides, not the millisecond: what is written later wins, in one mutation or in two, and a
 * delete hides only what was written before it. So a put after a delete of the same time is there,
 * and of two puts with one time the later one is the only one. The same in memory, in files, across
 * both, and after {@code kill -9}.
 */
class WriteOrderIT {
  private static final boolean LONG = Boolean.getBoolean("stele.long");
  private static final int REPEATS = LONG ? 500 : 40;
  private static final String ONE = "oneversion";
  private static final String THREE = "threeversions";
  private static final Bytes F = Bytes.of("f");
  private static final Bytes Q = Bytes.of("q");

  @TempDir private Path directory;

  /** What each row shows in a table with three versions: values, the newest first. */
  private final Map<String, List<String>> expected = new TreeMap<>();

  /** Writes of one row, each a mutation, and what is left in the end, the newest first. */
  private record Script(String name, List<Mutation> mutations, List<String> left) {}

  @Test
  void laterWinsInEveryState() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.startedShortLived(directory.resolve("data"), Map.of())) {
      try (SteleClient client = server.client()) {
        client.tables().create(ONE);
        client.tables().create(THREE, TableOptions.defaults().with("table.versions", "3"));
        for (String table : List.of(ONE, THREE)) {
          write(client, table);
        }
      }
      DataStates.visit(server, this::check, ONE, THREE);
    }
  }

  /** Each script is written with the flush before none, its second, … mutation. */
  private void write(SteleClient client, String table) {
    for (int flushBefore = 0; flushBefore < 4; flushBefore++) {
      List<Script> scripts = new ArrayList<>();
      for (int i = 0; i < REPEATS; i++) {
        scripts.addAll(scripts(flushBefore + " " + i + " "));
      }
      // In step: the n-th mutations of all scripts, in one batch, then the next ones.
      for (int step = 0; step < 4; step++) {
        if (step == flushBefore && step > 0) {
          client.tables().flush(table);
        }
        writeStep(client, table, scripts, step);
      }
      scripts.forEach(script -> expected.put(script.name, script.left));
    }
    writeSingly(client, table);
  }

  private static void writeStep(SteleClient client, String table, List<Script> scripts, int step) {
    try (BatchWriter writer = client.batchWriter(table)) {
      for (Script script : scripts) {
        if (step < script.mutations.size()) {
          writer.add(script.mutations.get(step));
        }
      }
    }
  }

  /** One call per mutation, as fast as it goes. */
  private void writeSingly(SteleClient client, String table) {
    for (int i = 0; i < REPEATS / 10; i++) {
      for (Script script : scripts("single " + i + " ")) {
        script.mutations.forEach(mutation -> client.write(table, mutation));
        expected.put(script.name, script.left);
      }
    }
  }

  private static List<Script> scripts(String prefix) {
    List<Script> scripts = new ArrayList<>();
    Rows rows = new Rows(prefix, scripts);
    // With the server's time: equal within a millisecond.
    rows.script("delete, put", List.of("new"), m().put("old"), m().delete(), m().put("new"));
    rows.script("put, delete", List.of(), m().put("old"), m().delete());
    rows.script("delete+put in one", List.of("new"), m().put("old"), m().delete().put("new"));
    rows.script("put+delete in one", List.of(), m().put("old").delete());
    rows.script("put+delete+put in one", List.of("new"), m().put("old").delete().put("new"));
    rows.script("delete row, put", List.of("new"), m().put("old"), m().deleteRow(), m().put("new"));
    rows.script(
        "delete row+put in one", List.of("new"), m().put("old"), m().deleteRow().put("new"));
    rows.script("put+delete row in one", List.of(), m().put("old").deleteRow());
    rows.script(
        "delete family, put", List.of("new"), m().put("old"), m().deleteFamily(), m().put("new"));
    rows.script("put+delete family in one", List.of(), m().put("old").deleteFamily());
    // With times of their own.
    rows.script("equal times", List.of("b"), m().put(5, "a"), m().put(5, "b"));
    rows.script("equal times in one", List.of("b"), m().put(5, "a").put(5, "b"));
    rows.script("thrice equal", List.of("c"), m().put(5, "a"), m().put(5, "b"), m().put(5, "c"));
    rows.script(
        "delete, put of one time",
        List.of("new"),
        m().put(5, "a"),
        m().delete(5),
        m().put(5, "new"));
    rows.script("put, delete of one time", List.of(), m().put(5, "a"), m().delete(5));
    rows.script("put+delete of one time in one", List.of(), m().put(5, "a").delete(5));
    rows.script("delete+put of one time in one", List.of("new"), m().delete(5).put(5, "new"));
    rows.script("an older put after the delete", List.of("old"), m().delete(5), m().put(4, "old"));
    rows.script("a newer put before the delete", List.of("new"), m().put(6, "new"), m().delete(5));
    rows.script(
        "the older of two is deleted",
        List.of("new"),
        m().put(4, "old").put(6, "new"),
        m().delete(5));
    rows.script("older after newer", List.of("new", "old"), m().put(6, "new"), m().put(4, "old"));
    rows.script(
        "equal times count once",
        List.of("d", "b", "a"),
        m().put(1, "a").put(2, "x"),
        m().put(2, "b"),
        m().put(3, "c").put(3, "d"));
    rows.script(
        "row and family deletes of one time",
        List.of("new"),
        m().put(5, "a"),
        m().deleteRow(5).deleteFamily(5),
        m().put(5, "new"));
    return scripts;
  }

  private static Steps m() {
    return new Steps();
  }

  /** Updates of one mutation, whose row is not known yet. */
  private static final class Steps {
    private interface Step {
      void addTo(Mutation mutation);
    }

    private final List<Step> steps = new ArrayList<>();

    private Steps with(Step step) {
      steps.add(step);
      return this;
    }

    Steps put(String value) {
      return with(mutation -> mutation.put(F, Q, Bytes.of(value)));
    }

    Steps put(long time, String value) {
      return with(mutation -> mutation.put(F, Q, Bytes.EMPTY, time, Bytes.of(value)));
    }

    Steps delete() {
      return with(mutation -> mutation.deleteColumn(F, Q));
    }

    Steps delete(long time) {
      return with(mutation -> mutation.deleteColumn(F, Q, Bytes.EMPTY, time));
    }

    Steps deleteRow() {
      return with(Mutation::deleteRow);
    }

    Steps deleteRow(long time) {
      return with(mutation -> mutation.deleteRow(time));
    }

    Steps deleteFamily() {
      return with(mutation -> mutation.deleteFamily(F, null));
    }

    Steps deleteFamily(long time) {
      return with(mutation -> mutation.deleteFamily(F, time));
    }

    Mutation of(String row) {
      Mutation mutation = Mutation.of(row);
      steps.forEach(step -> step.addTo(mutation));
      return mutation;
    }
  }

  private record Rows(String prefix, List<Script> scripts) {
    void script(String name, List<String> left, Steps... mutations) {
      String row = prefix + name;
      List<Mutation> made = new ArrayList<>();
      for (Steps steps : mutations) {
        made.add(steps.of(row));
      }
      scripts.add(new Script(row, made, left));
    }
  }

  private void check(SteleClient client, String state) {
    for (String table : List.of(ONE, THREE)) {
      Map<String, List<String>> shown = new TreeMap<>();
      expected.forEach(
          (row, left) -> {
            List<String> visible = table.equals(ONE) && !left.isEmpty() ? left.subList(0, 1) : left;
            if (!visible.isEmpty()) {
              shown.put(row, visible);
            }
          });
      Map<String, List<String>> found = new TreeMap<>();
      try (Scanner scanner = client.scanner(table).open()) {
        for (Cell cell : scanner) {
          found
              .computeIfAbsent(cell.row().toUtf8(), row -> new ArrayList<>())
              .add(cell.value().toUtf8());
        }
      }
      assertEquals(shown, found, table + ", " + state);
      for (String row : expected.keySet()) {
        if (row.contains(" 0 ")) {
          assertEquals(
              shown.getOrDefault(row, List.of()),
              client.lookup(table, row).cells().stream()
                  .map(cell -> cell.value().toUtf8())
                  .toList(),
              () -> table + ", lookup of " + row + ", " + state);
        }
      }
    }
  }
}
