package org.stele.test.day;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.client.instance.ProcessStat;
import org.stele.client.instance.ServerProcess;
import org.stele.client.instance.ServerStatusFile;
import org.stele.core.data.Mutation;
import org.stele.core.json.Json;
import org.stele.test.check.Conditions;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * How a server ends and comes back: in order, by SIGTERM, by {@code kill -9}; and with a pid file
 * that names nobody, or somebody else, who is left alone.
 */
@TestMethodOrder(MethodOrderer.MethodName.class) // the order with the fewest starts
class StartAndStopIT {
  private static final String TABLE = "kept";
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir private static Path directory;

  private static StandaloneServer server;

  @BeforeAll
  static void start() {
    server = new StandaloneServer(Installation.shared(), directory.resolve("data"), Map.of());
    server.start().orFail();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
    }
  }

  @AfterAll
  static void end() {
    server.close();
  }

  /** Tests leave the server as they like; the next one takes care. */
  private static void ensureRunning() throws IOException {
    if (ServerProcess.find(server.directory()).isEmpty()) {
      server.start().orFail();
    }
  }

  private static void put(String row) {
    try (SteleClient client = server.client()) {
      client.write(TABLE, Mutation.of(row).put("f", "q", "value of " + row));
    }
  }

  private static void assertThere(String row) {
    try (SteleClient client = server.client()) {
      assertEquals("value of " + row, client.lookup(TABLE, row).get("f", "q"));
    }
  }

  private static void assertNotRunning() {
    CommandResult status = server.stele("status", "--json");
    assertEquals(1, status.exitCode(), status::toString);
    Map<String, ?> json = Json.parseObject(status.out());
    assertEquals(false, json.get("ready"));
    assertEquals(null, json.get("pid"));
    assertEquals("it is not running", json.get("reason"));
  }

  @Test
  void aStoppedServerIsGoneAndHasFlushed() throws Exception {
    ensureRunning();
    put("before the stop");
    long pid = server.pid();
    server.stop().orFail();
    ProcessStat stat = ProcessStat.of(pid);
    assertTrue(
        stat == null || stat.state() == 'Z', () -> "it runs after stop has returned: " + stat);
    assertFalse(Files.exists(pidFile()));
    assertNotRunning();
    CommandResult again = server.stop().orFail();
    assertTrue(again.out().contains("is not running"), again::toString);
    Files.writeString(pidFile(), "no number\n");
    sigtermInTheForeground();
  }

  private static void sigtermInTheForeground() throws Exception {
    Process process = server.startInForeground(directory.resolve("output"));
    try {
      Path status = server.directory().resolve(ServerStatusFile.NAME);
      Conditions.await(
          "the server is ready", LIMIT, () -> Files.exists(status) || !process.isAlive());
      assertEquals(process.pid(), server.pid());
      assertThere("before the stop");
      put("at the signal");
      process.destroy();
      assertTrue(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS), "it does not end");
    } finally {
      process.destroyForcibly();
    }
    assertEquals(0, process.exitValue(), () -> String.join("\n", server.log()));
    assertEquals(List.of(), logs(), "flushed, so that no log is needed");
  }

  private static List<Path> logs() throws IOException {
    try (Stream<Path> files = Files.walk(server.directory().resolve("store/wal"))) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  private static void tellTime(String what, long begin) {
    System.out.printf(
        "%s %d ms after 'stele start'%n", what, (System.nanoTime() - begin) / 1_000_000);
  }

  /** The pid of a killed server now belongs to another process, which even looks like a server. */
  @Test
  void aKilledServerStartsAgainThoughSomebodyElseHasItsPid() throws Exception {
    ensureRunning();
    put("before the kill");
    long pid = server.pid();
    server.kill9();
    assertTrue(Files.exists(pidFile()), "a killed process removes no file");
    Process other =
        new ProcessBuilder("sh", "-c", "sleep 1000; :", "org.stele.client.cli.Main", "standalone")
            .start();
    try {
      Files.writeString(pidFile(), other.pid() + "\n");
      Path status = server.directory().resolve(ServerStatusFile.NAME);
      Files.writeString(
          status, Files.readString(status).replace("\"pid\":" + pid, "\"pid\":" + other.pid()));
      assertEquals(other.pid(), server.pid());
      assertNotRunning();
      CommandResult stop = server.stop().orFail();
      assertTrue(stop.out().contains("is not running"), stop::toString);
      assertTrue(other.isAlive(), "stop ended another process");
      long begin = System.nanoTime();
      server.start().orFail();
      assertThere("before the kill");
      tellTime("the first lookup after kill -9 succeeded", begin);
      assertTrue(other.isAlive(), "start ended another process");
      assertTrue(server.pid() != other.pid());
    } finally {
      other.descendants().forEach(ProcessHandle::destroyForcibly);
      other.destroyForcibly();
    }
  }

  private static Path pidFile() {
    return server.directory().resolve(ServerProcess.PID_FILE);
  }
}
