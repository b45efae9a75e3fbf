package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.json.Json;
import org.stele.core.settings.StandardSettings;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;
import org.stele.test.process.CommandResult;
import org.stele.test.process.StandaloneServer;

/**
 * A server does what its settings say, and says what they are. What is not exactly right is
 * refused, with its name, its text and the rule; nothing is repaired, clamped or passed over.
 */
class SettingsInEffectIT {
  private static final Duration LIMIT = TestForm.generous(Duration.ofSeconds(5));
  private static final int FRAME_MAX = 64 << 10;
  private static final int LOG_SIZE = 64 << 10;

  /** Free text, of which hardly anything is wrong. */
  private static final Set<String> TEXTS =
      Set.of(
          "root.uri",
          "rpc.advertise.address",
          "rpc.bind.address",
          "zookeeper.bind.address",
          "zookeeper.connect");

  private static final Map<String, String> GIVEN =
      Map.of(
          "rpc.frame.max", "64K",
          "rpc.idle.timeout", "1500ms",
          "rpc.partial.timeout", "1s",
          "wal.size", "64K",
          "table.versions", "2",
          "scan.batch.bytes", "4K",
          "cache.data.bytes", "8M");

  @TempDir private static Path directory;

  private static StandaloneServer server;

  @BeforeAll
  static void start() {
    server = StandaloneServer.started(directory.resolve("data"), GIVEN);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** {@code stele standalone} with this file of settings; returns its one line of refusal. */
  private static String refusal(String file, Map<String, String> environment, String... options)
      throws IOException {
    Path wrong = Files.createTempDirectory(directory, "wrong");
    Path conf = Files.createDirectory(wrong.resolve("conf"));
    Files.writeString(conf.resolve("stele.properties"), file);
    environment.forEach(server::environment);
    List<String> command = new ArrayList<>(List.of("standalone", "--dir", wrong.toString()));
    command.addAll(List.of(options));
    CommandResult result = server.stele(command.toArray(String[]::new));
    environment.keySet().forEach(name -> server.environment(name, ""));
    assertEquals(1, result.exitCode(), result::toString);
    assertEquals("", result.out(), result::toString);
    assertEquals(1, result.err().lines().count(), result::toString);
    assertFalse(Files.exists(wrong.resolve("store")), "it began to start");
    assertFalse(Files.exists(wrong.resolve("zookeeper")), "it began to start");
    assertFalse(Files.exists(wrong.resolve("stele.pid")), "it looks as if it ran");
    return result.err();
  }

  @Test
  void everyWrongValueIsNamed() throws IOException {
    List<String> values =
        List.of("10 parsecs", "99999999999999999999", "-1", "", "abc", "5 m", "1O24", "0x10");
    for (String value : values.subList(0, TestForm.count(2, values.size()))) {
      StringBuilder file = new StringBuilder();
      for (String name : StandardSettings.byName().keySet()) {
        file.append(name).append('=').append(value).append('\n');
      }
      String refusal = refusal(file.toString(), Map.of());
      StandardSettings.byName()
          .forEach(
              (name, setting) -> {
                boolean mayBeBlank = setting.type().rule().contains("blank");
                if (!TEXTS.contains(name) && !(mayBeBlank && value.isEmpty())) {
                  String expected =
                      name
                          + " = '"
                          + value
                          + "' is not allowed: it must be "
                          + setting.type().rule();
                  assertTrue(refusal.contains(expected), () -> expected + " is not in " + refusal);
                }
              });
    }
  }

  @Test
  void whatIsAlmostRightIsRefused() throws IOException {
    String refusal =
        refusal(
            "rpc.prot = 1\nwal.size = 1M \nrpc.workers = 0\nzookeeper.port = 65536\n", Map.of());
    for (String expected :
        List.of(
            "there is no setting rpc.prot; the nearest is rpc.port",
            "wal.size = '1M ' is not allowed",
            "rpc.workers = '0' is not allowed: it must be a whole number from 1 to 4096",
            "zookeeper.port = '65536' is not allowed")) {
      assertTrue(refusal.contains(expected), refusal);
    }
    assertTrue(refusal("wal.size=1M\nwal.size=2M\n", Map.of()).contains("wal.size is there twice"));
    refusal = refusal("", Map.of("STELE_SETTING_WAL_SIZE", "1 M"), "--set", "wal.size=1M");
    assertTrue(refusal.contains("environment: wal.size = '1 M' is not allowed"), refusal);
  }

  @Test
  void aTableWithAWrongSettingIsNotMade() {
    try (SteleClient client = server.client()) {
      for (Map.Entry<String, String> wrong :
          new TreeMap<>(
                  Map.of(
                      "table.versions", "0",
                      "table.file.block.bytes", "8 K",
                      "table.version", "1",
                      "rpc.port", "0"))
              .entrySet()) {
        SteleException refused =
            assertThrows(
                SteleException.class,
                () ->
                    client
                        .tables()
                        .create(
                            "wrong",
                            TableOptions.defaults().with(wrong.getKey(), wrong.getValue())));
        assertEquals(ErrorCode.BAD_REQUEST, refused.code(), refused::getMessage);
        assertTrue(refused.getMessage().contains(wrong.getKey()), refused::getMessage);
        assertFalse(client.tables().exists("wrong"));
      }
    }
  }

  @Test
  void settingsAreToldAsTheyAre() {
    Map<String, String> told = new TreeMap<>();
    for (String line : server.stele("settings", "--json").orFail().lines()) {
      Map<String, ?> setting = Json.parseObject(line);
      told.put((String) setting.get("name"), (String) setting.get("value"));
    }
    assertEquals(StandardSettings.byName().keySet(), told.keySet());
    GIVEN.forEach((name, value) -> assertEquals(value, told.get(name), name));
    assertEquals(StandardSettings.MEMTABLE_BYTES.defaultText(), told.get("memtable.bytes"));
  }

  @Test
  void frameLimitHoldsToTheByte() throws IOException {
    int overhead = CompactCall.ping(new byte[FRAME_MAX / 2], 8).length - FRAME_MAX / 2;
    byte[] largest = CompactCall.ping(new byte[FRAME_MAX - overhead], 8);
    assertEquals(FRAME_MAX, largest.length);
    try (RawSocket socket = RawSocket.connect(server.port())) {
      assertEquals(CompactReply.Kind.RESULT, CompactReply.of(socket.call(largest, LIMIT)).kind());
    }
    try (RawSocket socket = RawSocket.connect(server.port())) {
      socket.sendLength(FRAME_MAX + 1);
      assertTrue(socket.isEndedWithin(LIMIT), "a frame beyond the limit is taken");
    }
  }

  /** By default these take 5 minutes and 30 s. */
  @Test
  void timesOfConnectionsHold() throws IOException {
    try (RawSocket idle = RawSocket.connect(server.port());
        RawSocket partial = RawSocket.connect(server.port())) {
      partial.sendLength(100);
      assertTrue(partial.isEndedWithin(LIMIT), "a frame that stays a part is waited for");
      assertTrue(idle.isEndedWithin(LIMIT), "an idle connection stays open");
    }
  }

  @Test
  void sizeOfLogsHolds() {
    try (SteleClient client = server.client()) {
      client.tables().create("logged");
      long before = filesCreated(client);
      for (int i = 0; i < 10; i++) {
        client.write("logged", Mutation.of("row" + i).put("f", "q", "x".repeat(LOG_SIZE / 2)));
      }
      long created = filesCreated(client) - before;
      assertTrue(created >= 4, () -> created + " logs for five times their size");
    }
  }

  private static long filesCreated(SteleClient client) {
    return HealthyClient.counter(
        client.servers().status(server.address()).counters(), "wal.files.created");
  }

  /** A setting of tables in the server's file is their default. */
  @Test
  void defaultsOfTablesHold() {
    try (SteleClient client = server.client()) {
      client.tables().create("versions");
      client.tables().create("one", TableOptions.defaults().with("table.versions", "1"));
      for (String table : List.of("versions", "one")) {
        for (long timestamp = 1; timestamp <= 3; timestamp++) {
          client.write(
              table,
              Mutation.of("row")
                  .put(
                      Bytes.of("f"),
                      Bytes.of("q"),
                      Bytes.EMPTY,
                      timestamp,
                      Bytes.of("v" + timestamp)));
        }
      }
      assertEquals(List.of("v3", "v2"), values(client, "versions"));
      assertEquals(List.of("v3"), values(client, "one"));
    }
  }

  private static List<String> values(SteleClient client, String table) {
    List<String> values = new ArrayList<>();
    try (Scanner scanner = client.scanner(table).open()) {
      for (Cell cell : scanner) {
        values.add(cell.value().toUtf8());
      }
    }
    return values;
  }
}
