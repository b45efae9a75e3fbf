package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;
import org.stele.test.process.UnprivilegedUser;

/**
 * A user who may not have more threads. A server that runs goes on with those it has; one that
 * starts says why it cannot, and leaves nothing behind. Needs root, whom such limits do not bind,
 * to be somebody else.
 */
class ThreadLimitIT {
  private static final UnprivilegedUser USER = new UnprivilegedUser(54_321);
  private static final int SCANNERS = 48;

  /** Few threads: not even the virtual machine starts; more: some part of the server does not. */
  private static final int[] LIMITS =
      TestForm.LONG
          ? new int[] {20, 30, 35, 40, 45, 50, 52, 54, 56, 58, 60, 62, 64, 66, 68, 70}
          : new int[] {20, 45, 55};

  /** Below /tmp, since the user has to get there. */
  private Path directory;

  private Installation installation;

  @BeforeEach
  void unpack() throws IOException {
    directory = Files.createTempDirectory(Path.of("/tmp"), "stele-threads");
    assertTrue(directory.toFile().setExecutable(true, false));
    assertTrue(directory.toFile().setReadable(true, false));
    installation = Installation.unpackInto(directory);
    assumeTrue(
        USER.isPossible(installation.script()), "cannot run a command as another user: not root");
  }

  @AfterEach
  void delete() {
    Installation.delete(directory);
  }

  private StandaloneServer server(Map<String, String> settings) {
    return new StandaloneServer(installation, directory.resolve("data"), settings).as(USER);
  }

  @Test
  void aServerGoesOnWithTheThreadsItHas() {
    Map<String, String> settings = Map.of("rpc.workers", "64", "rpc.queue.calls", "4");
    try (StandaloneServer server = server(settings)) {
      server.start().orFail();
      long pid = server.pid();
      int port = server.port();
      try (SteleClient client = server.client()) {
        VainScans scans = VainScans.of(client, port);
        client.tables().create("small");
        int limit = ProcessGauges.of(pid).threads() + 4;
        run(USER.command(), "prlimit", "--pid=" + pid, "--nproc=" + limit + ":");
        try (scans) {
          scans.start(SCANNERS);
          scans.await(50);
          assertTrue(ProcessGauges.of(pid).threads() <= limit);
        }
        Conditions.await(
            "the server serves as before",
            TestForm.generous(Duration.ofSeconds(5)),
            () -> {
              client.write("small", Mutation.of("a").put("f", "q", "v"));
              return client.lookup("small", "a").get("f", "q").equals("v");
            });
      }
      // It ends in order as soon as the virtual machine can make the thread that takes the signal.
      run(USER.command(), "prlimit", "--pid=" + pid, "--nproc=1000:");
      run(List.of(), installation.script().toString(), "stop", "--dir=" + server.directory());
      assertTrue(
          server.log().stream().anyMatch(line -> line.contains("ended: signal to end")),
          () -> "not ended in order: " + server.log());
    }
  }

  private void run(List<String> as, String... command) {
    Commands.run(
            directory,
            Map.of("STELE_CONNECT", ""),
            new byte[0],
            Duration.ofMinutes(2),
            Stream.concat(as.stream(), Stream.of(command)).toList())
        .orFail();
  }

  @Test
  void aStartWithoutEnoughThreadsSaysSo() throws IOException {
    for (int limit : LIMITS) {
      try (StandaloneServer server = server(Map.of())) {
        server.under(List.of("bash", "-c", "ulimit -u " + limit + "; exec \"$@\"", "limited"));
        CommandResult result = server.start();
        String what = "with " + limit + " threads: " + result;
        assertEquals(1, result.exitCode(), what);
        assertTrue(result.err().contains("thread") || result.err().contains("Thread"), what);
        assertFalse(Files.exists(server.directory().resolve("status.json")), what);
        // Nothing holds the directory.
        server.under(List.of());
        assertEquals(1, server.stele("status").exitCode(), what);
      }
    }
    try (StandaloneServer server = server(Map.of())) {
      server.start().orFail();
    }
  }
}
