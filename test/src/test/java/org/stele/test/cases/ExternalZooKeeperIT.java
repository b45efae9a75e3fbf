package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.SteleException;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.Daemon;
import org.stele.test.process.Installation;

/**
 * {@code stele server}: a tablet server whose ZooKeeper is a process of its own and whose files lie
 * in a directory that its settings name. What was acknowledged is there after an orderly end, after
 * a kill, and when ZooKeeper was away; files and ZooKeeper that do not belong together are refused.
 */
class ExternalZooKeeperIT {
  private static final Duration PATIENCE = TestForm.generous(Duration.ofSeconds(30));
  private static final String TABLE = "people";

  /** Of ZooKeeper, in milliseconds: it allows sessions of two ticks at least. */
  private static final int TICK = 1000;

  private final Installation installation = Installation.shared();
  private final int zooKeeperPort = freePort();
  private final String connect = "127.0.0.1:" + zooKeeperPort + "/some/where";
  private final List<String> written = new ArrayList<>();

  @TempDir private Path directory;
  private Daemon zooKeeper;
  private Path settings;

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @BeforeEach
  void start() throws IOException {
    Files.write(
        directory.resolve("zoo.cfg"),
        List.of(
            "tickTime=" + TICK,
            "dataDir=" + directory.resolve("zookeeper"),
            "clientPortAddress=127.0.0.1",
            "clientPort=" + zooKeeperPort,
            "admin.enableServer=false"));
    zooKeeper = startZooKeeper();
    settings = settings("stele.properties", "store", "5s");
  }

  @AfterEach
  void end() {
    zooKeeper.close();
  }

  private Daemon startZooKeeper() {
    Path lib = installation.home().resolve("lib");
    return Daemon.start(
        directory,
        directory.resolve("zookeeper.out"),
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-cp",
            lib + "/*:" + lib + "/hadoop/*",
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            "zoo.cfg"));
  }

  private Path settings(String name, String store, String sessionTimeout) throws IOException {
    return Files.write(
        directory.resolve(name),
        List.of(
            "zookeeper.connect=" + connect,
            "zookeeper.session.timeout=" + sessionTimeout,
            "root.uri=" + directory.resolve(store).toUri(),
            "rpc.port=0"));
  }

  private Daemon server(Path file, String name) {
    return Daemon.start(
        directory,
        directory.resolve(name + ".out"),
        List.of(
            installation.script().toString(),
            "server",
            "--conf=" + file,
            "--logs=" + directory.resolve(name)));
  }

  /** The first server makes the instance; before there is nothing to connect to. */
  private SteleClient client() {
    ClientOptions options = ClientOptions.defaults().withDeadline(PATIENCE);
    AtomicReference<SteleClient> connected = new AtomicReference<>();
    Conditions.await(
        "there is an instance at " + connect,
        PATIENCE,
        () -> {
          try {
            connected.set(SteleClient.connect(connect, options));
            return true;
          } catch (SteleException e) {
            return !e.getMessage().contains("there is no Stele instance");
          }
        });
    return Objects.requireNonNull(connected.get());
  }

  private CommandResult stele(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(installation.script().toString());
    command.add("--connect=" + connect);
    command.addAll(List.of(arguments));
    return Commands.run(directory, Map.of(), new byte[0], Duration.ofMinutes(2), command);
  }

  private void write(SteleClient client, int rows) {
    try (BatchWriter writer = client.batchWriter(TABLE)) {
      for (int i = 0; i < rows; i++) {
        String row = String.format("row%05d", written.size());
        writer.add(Mutation.of(row).put("name", "full", "value of " + row));
        written.add(row);
      }
    }
  }

  private void assertAllIsThere(SteleClient client) {
    List<String> found = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      for (Cell cell : scanner) {
        found.add(cell.row().toString());
        assertEquals("value of " + cell.row(), cell.value().toString());
      }
    }
    assertEquals(written, found);
  }

  @Test
  void keepsWhatWasWrittenOverAnEndAndAKill() throws IOException {
    try (Daemon server = server(settings, "first");
        SteleClient client = client()) {
      client.tables().create(TABLE);
      write(client, 1000);
      stele("put", TABLE, "zoe", "name:full", "value of zoe").orFail();
      written.add("zoe");
      assertEquals("zoe\tname:full\tvalue of zoe\n", stele("lookup", TABLE, "zoe").orFail().out());
      assertTrue(stele("status").orFail().out().contains(connect));
      assertEquals(0, server.end(), server.output());
    }
    assertTrue(log("first").contains("stele server ended: signal to end"), log("first"));
    assertEquals(1, stele("status", "--timeout=3s").exitCode());

    try (Daemon server = server(settings, "second");
        SteleClient client = client()) {
      assertAllIsThere(client);
      written.remove("zoe");
      client.write(TABLE, Mutation.of("zoe").deleteRow());
      write(client, 1000);
      server.kill9();
    }
    try (Daemon server = server(settings, "third");
        SteleClient client = client()) {
      assertAllIsThere(client);
      assertEquals(0, server.end(), server.output());
    }
  }

  /** Those of the settings' folder, and not those of a standalone server in the default place. */
  @Test
  void itsOptionsAreBesideItsSettings() throws IOException {
    Path other = Files.createDirectories(directory.resolve("standalone/conf"));
    Files.writeString(other.resolve("stele-env.sh"), "STELE_SERVER_OPTS=-Dof.another=1\n");
    Files.writeString(directory.resolve("stele-env.sh"), "STELE_SERVER_OPTS=-Dof.mine=1\n");
    for (String conf : List.of(settings.toString(), "stele.properties")) {
      try (Daemon server =
          Daemon.start(
              directory,
              directory.resolve("first.out"),
              List.of(
                  "env",
                  "STELE_DIR=" + other.getParent(),
                  installation.script().toString(),
                  "server",
                  "--conf",
                  conf,
                  "--logs=" + directory.resolve("first")))) {
        Conditions.await(
            "it is Java",
            PATIENCE,
            () -> commandLine(server).contains("org.stele.client.cli.Main"));
        assertTrue(commandLine(server).contains("-Dof.mine=1"), commandLine(server));
        assertFalse(commandLine(server).contains("-Dof.another"), commandLine(server));
      }
    }
  }

  private static String commandLine(Daemon server) throws IOException {
    return Files.readString(Path.of("/proc", Long.toString(server.pid()), "cmdline"));
  }

  @Test
  void outlivesARestartOfZooKeeper() throws IOException {
    Path patient = settings("patient.properties", "store", "20s");
    try (Daemon server = server(patient, "first");
        SteleClient client = client()) {
      client.tables().create(TABLE);
      write(client, 100);
      zooKeeper.kill9();
      assertEquals("value of row00007", client.lookup(TABLE, "row00007").get("name", "full"));
      zooKeeper = startZooKeeper();
      write(client, 100);
      client.tables().create("others");
      assertAllIsThere(client);
      assertEquals(0, server.end(), server.output());
    }
  }

  @Test
  void refusesWhatDoesNotBelongTogether() throws IOException {
    try (Daemon server = server(settings, "first");
        SteleClient client = client()) {
      client.tables().create(TABLE);
      write(client, 10);
      assertRefused(settings, "are those of a server that runs");
      assertRefused(settings("elsewhere.properties", "empty", "5s"), "holds no data");
      assertTrue(server.isAlive());
      assertAllIsThere(client);
      assertEquals(0, server.end(), server.output());
    }
    zooKeeper.kill9();
    Installation.delete(directory.resolve("zookeeper"));
    zooKeeper = startZooKeeper();
    assertRefused(settings, "knows no instance");
  }

  private void assertRefused(Path file, String why) {
    try (Daemon refused = server(file, "refused")) {
      assertEquals(1, refused.exitCode(), refused.output());
      assertTrue(refused.output().contains(why), refused.output());
      assertFalse(refused.output().contains("\tat "), refused.output());
    }
  }

  private String log(String name) throws IOException {
    return Files.readString(directory.resolve(name).resolve("stele.log"));
  }
}
