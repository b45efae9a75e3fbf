package org.stele.tserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableDescription;
import org.stele.client.TableOptions;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.server.process.StartException;

/** A whole server and a real client in one process. */
class StandaloneTest {
  private static final String TABLE = "people";

  @TempDir Path temp;

  @Test
  void servesATable() throws Exception {
    try (MiniServer server = MiniServer.start(temp);
        SteleClient client = server.client()) {
      client.tables().create(TABLE, splits("g", "p"));
      assertEquals(List.of(Bytes.of("g"), Bytes.of("p")), client.tables().splits(TABLE));
      write(client, 0, 300);
      assertRows(client, 300);
      assertEquals("v7", client.lookup(TABLE, row(7)).get("f", "q"));
      assertTrue(client.lookup(TABLE, "nobody").isEmpty());
      client.write(TABLE, Mutation.of(row(7)).deleteRow());
      assertTrue(client.lookup(TABLE, row(7)).isEmpty());
      client.tables().flush(TABLE);
      assertTrue(client.lookup(TABLE, row(7)).isEmpty());
      assertEquals("v8", client.lookup(TABLE, row(8)).get("f", "q"));
      client.tables().compact(TABLE);
      assertEquals("v8", client.lookup(TABLE, row(8)).get("f", "q"));
      client.tables().delete(TABLE);
      assertFalse(client.tables().exists(TABLE));
      client.tables().create(TABLE);
      assertTrue(client.lookup(TABLE, row(8)).isEmpty());
      assertEquals(
          List.of(TABLE), client.tables().list().stream().map(TableDescription::name).toList());
    }
  }

  @Test
  void refusesATableThatIsThereAndOneThatIsNot() throws Exception {
    try (MiniServer server = MiniServer.start(temp);
        SteleClient client = server.client()) {
      client.tables().create(TABLE);
      assertEquals(ErrorCode.TABLE_EXISTS, codeOf(() -> client.tables().create(TABLE)));
      assertEquals(ErrorCode.UNKNOWN_TABLE, codeOf(() -> client.tables().delete("nothing")));
      assertEquals(
          ErrorCode.BAD_REQUEST,
          codeOf(
              () ->
                  client.tables().create("other", TableOptions.defaults().with("rpc.port", "1"))));
    }
  }

  @Test
  void keepsEverythingOverAnOrderlyRestart() throws Exception {
    try (MiniServer server = MiniServer.start(temp);
        SteleClient client = server.client()) {
      client.tables().create(TABLE, splits("g", "p"));
      write(client, 0, 300);
    }
    assertEquals(List.of(), logs());
    try (MiniServer server = MiniServer.start(temp);
        SteleClient client = server.client()) {
      assertRows(client, 300);
    }
  }

  @Test
  void keepsWhatWasAcknowledgedOverCrashesAndDeletesTheLogsInTheEnd() throws Exception {
    int rows = 0;
    MiniServer server = MiniServer.start(temp);
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE, splits("g", "p"));
    }
    for (int round = 0; round < 5; round++) {
      try (SteleClient client = server.client()) {
        write(client, rows, rows + 100);
        rows += 100;
      }
      server.crash();
      server = MiniServer.start(temp);
      try (SteleClient client = server.client()) {
        assertRows(client, rows);
      }
    }
    Awaitility.await()
        .atMost(30, TimeUnit.SECONDS)
        .untilAsserted(() -> assertEquals(1, logs().size(), () -> "logs left: " + logs()));
    server.close();
  }

  @Test
  void aTableKeepsTheSettingsItWasMadeWith() throws Exception {
    try (MiniServer server = MiniServer.start(temp, Map.of("table.versions", "3"));
        SteleClient client = server.client()) {
      client.tables().create("three");
      client.tables().create("two", TableOptions.defaults().with("table.versions", "2"));
    }
    try (MiniServer server =
            MiniServer.start(temp, Map.of("table.versions", "1", "table.durability", "none"));
        SteleClient client = server.client()) {
      assertEquals("sync", client.tables().describe("three").settings().get("table.durability"));
      assertEquals(3, versions(client, "three"));
      assertEquals(2, versions(client, "two"));
    }
  }

  private static int versions(SteleClient client, String table) {
    for (int time = 1; time <= 5; time++) {
      client.write(
          table,
          Mutation.of("row")
              .put(Bytes.of("f"), Bytes.of("q"), Bytes.EMPTY, (long) time, Bytes.of("v")));
    }
    return client.lookup(table, "row").cells().size();
  }

  @Test
  void theSettingsOfTablesAreNotThoseOfTheMetadata() throws Exception {
    Map<String, String> settings = Map.of("table.versions", "3");
    MiniServer.start(temp, settings).close();
    try (MiniServer server = MiniServer.start(temp, settings);
        SteleClient client = server.client()) {
      List<Cell> cells =
          client.lookup(MetadataSchema.TABLE_NAME, MetadataSchema.COORDINATOR_ROW).cells();
      assertEquals(
          cells.stream().map(cell -> cell.family() + ":" + cell.qualifier()).distinct().count(),
          cells.size(),
          cells::toString);
    }
  }

  @Test
  void refusesASecondServerOnTheDirectory() throws Exception {
    try (MiniServer server = MiniServer.start(temp)) {
      StartException refused =
          assertThrows(StartException.class, () -> MiniServer.start(temp).close());
      assertTrue(refused.getMessage().contains(temp.toRealPath().toString()), refused.getMessage());
      assertTrue(server.server().isReady());
    }
  }

  @Test
  void namesAPortThatIsTakenAndLeavesNothing() throws Exception {
    MiniServer.start(temp).close();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      String port = Integer.toString(taken.getLocalPort());
      Exception refused =
          assertThrows(
              Exception.class, () -> MiniServer.start(temp, Map.of("rpc.port", port)).close());
      assertTrue(refused.getMessage().contains(port), refused.getMessage());
      assertEquals(List.of(), logs());
    }
    MiniServer.start(temp).close();
  }

  /** Directories of sessions with logs. */
  private List<String> logs() {
    Path directory = temp.resolve("store/wal");
    try (Stream<Path> sessions = Files.list(directory)) {
      return sessions
          .filter(path -> path.toFile().list().length > 0)
          .map(path -> path.getFileName().toString())
          .toList();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static TableOptions splits(String... splits) {
    return TableOptions.defaults().withSplits(Stream.of(splits).map(Bytes::of).toList());
  }

  private static void write(SteleClient client, int from, int to) {
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      for (int i = from; i < to; i++) {
        writer.add(Mutation.of(row(i)).put("f", "q", "v" + i));
      }
    }
  }

  private static String row(int i) {
    return (char) ('a' + i % 26) + String.format("%05d", i);
  }

  private static void assertRows(SteleClient client, int expected) {
    List<String> rows = new ArrayList<>();
    List<String> wanted = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      for (Cell cell : scanner) {
        rows.add(cell.row() + "=" + cell.value());
      }
    }
    for (int i = 0; i < expected; i++) {
      wanted.add(row(i) + "=v" + i);
    }
    wanted.sort(null);
    assertEquals(wanted, rows);
  }

  private static ErrorCode codeOf(Runnable operation) {
    return assertThrows(SteleException.class, operation::run).code();
  }
}
