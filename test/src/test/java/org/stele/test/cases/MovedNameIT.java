package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.net.TestTls;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.process.Installation;
import org.stele.test.process.Serving;
import org.stele.test.process.StandaloneServer;

/**
 * Servers and ZooKeeper are known by names. When these come to mean another address, clients that
 * run follow; a client that is started before there is a name waits for it, and says which.
 */
class MovedNameIT extends ForServerKinds {
  private static final String KEEPER_NAME = "keeper.stele";

  /** What the JDK remembers of names, in seconds: in the long form, as long as it likes. */
  private static final List<String> REMEMBERING =
      TestForm.LONG
          ? List.of()
          : List.of("-Dsun.net.inetaddr.ttl=1", "-Dsun.net.inetaddr.negative.ttl=1");

  private static final int DEADLINE_SECONDS = 90;
  private static final Duration LIMIT = Duration.ofSeconds(DEADLINE_SECONDS + 10);
  private static final Duration RECOVERY = TestForm.generous(Duration.ofSeconds(60));

  private final Installation installation = Installation.shared();

  @TempDir private Path directory;

  @Test
  void runningClientsFollowANameToItsNewAddress() throws Exception {
    Path hosts = hosts("127.0.0.2", TestTls.SERVER_NAME, KEEPER_NAME);
    try (StandaloneServer server = server(hosts)) {
      bindTo(server, "127.0.0.2");
      server.start().orFail();
      server.setting("rpc.port", Integer.toString(server.port()));
      server.setting("zookeeper.port", server.zookeeper().replaceAll(".*:(\\d+).*", "$1"));
      server.stele("table", "create", LineClient.TABLE).orFail();
      try (Client client = new Client("client", hosts, keeper(server), DEADLINE_SECONDS)) {
        client.await(LineClient.CONNECTED);
        client.ask("before");
        server.kill9();
        hosts("127.0.0.3", TestTls.SERVER_NAME, KEEPER_NAME);
        bindTo(server, "127.0.0.3");
        server.start().orFail();
        long begun = System.nanoTime();
        client.ask("after");
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertTrue(took.compareTo(RECOVERY) < 0, () -> "recovered after " + took);
      }
      assertEquals(0, server.stop().exitCode());
    }
  }

  @Test
  void clientsWaitForANameUpToTheirDeadline() throws Exception {
    Path hosts = hosts("127.0.0.2", TestTls.SERVER_NAME);
    try (StandaloneServer server = server(hosts)) {
      bindTo(server, "127.0.0.2");
      server.start().orFail();
      server.stele("table", "create", LineClient.TABLE).orFail();
      try (Client patient = new Client("patient", hosts, keeper(server), DEADLINE_SECONDS);
          Client hasty = new Client("hasty", hosts, keeper(server), 2)) {
        hasty.await(LineClient.FAILED);
        assertTrue(hasty.output().contains(KEEPER_NAME), hasty.output());
        assertEquals("", patient.output());
        hosts("127.0.0.2", TestTls.SERVER_NAME, KEEPER_NAME);
        patient.await(LineClient.CONNECTED);
        patient.ask("row");
      }
    }
  }

  /** A file of names, which virtual machines read whenever they ask for one. */
  private Path hosts(String address, String... names) throws IOException {
    Path written = directory.resolve("hosts.new");
    Files.writeString(written, address + " " + String.join(" ", names) + "\n");
    return Files.move(
        written,
        directory.resolve("hosts"),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.ATOMIC_MOVE);
  }

  private StandaloneServer server(Path hosts) {
    StandaloneServer server =
        new StandaloneServer(
            installation,
            directory.resolve("data"),
            Map.of("rpc.advertise.address", TestTls.SERVER_NAME));
    return server
        .serverOption("-Djdk.net.hosts.file=" + hosts)
        .environment("STELE_CLIENT_OPTS", "-Djdk.net.hosts.file=" + hosts);
  }

  private static void bindTo(StandaloneServer server, String address) {
    server.setting("rpc.bind.address", address).setting("zookeeper.bind.address", address);
  }

  private static String keeper(StandaloneServer server) {
    return server.zookeeper().replace("127.0.0.2", KEEPER_NAME);
  }

  /** A process that runs {@link LineClient}. */
  private final class Client implements AutoCloseable {
    private final Path output;
    private final Process process;
    private final OutputStream lines;

    Client(String name, Path hosts, String keeper, int deadlineSeconds) throws Exception {
      output = directory.resolve(name + ".out");
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("-Xmx256m");
      command.add("-Djdk.net.hosts.file=" + hosts);
      command.addAll(REMEMBERING);
      command.add("-cp");
      command.add(
          installation.home().resolve("lib")
              + "/*:"
              + Path.of(
                  LineClient.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
      command.add(LineClient.class.getName());
      command.add(keeper);
      command.add(Integer.toString(deadlineSeconds));
      if (Serving.current().clientOptions().tls() != null) {
        command.add(TestTls.shared().file("trust.pem").toString());
      }
      process =
          new ProcessBuilder(command)
              .redirectError(directory.resolve(name + ".err").toFile())
              .redirectOutput(output.toFile())
              .start();
      lines = process.getOutputStream();
    }

    String output() throws IOException {
      return Files.readString(output);
    }

    /** Waits until it has said something that begins like this. */
    void await(String said) {
      Conditions.await("a client says " + said, LIMIT, () -> output().contains(said));
    }

    void ask(String row) throws IOException {
      lines.write((row + "\n").getBytes(StandardCharsets.UTF_8));
      lines.flush();
      Conditions.await(
          "an answer for " + row,
          LIMIT,
          () -> output().contains(LineClient.DONE + row) || output().contains(LineClient.FAILED));
      String value = "value of " + row;
      assertTrue(output().contains(LineClient.DONE + row + ", " + value + ", " + value), output());
    }

    @Override
    public void close() {
      process.destroyForcibly().onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }
  }
}
