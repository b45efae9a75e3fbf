package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.client.BatchWriter;
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
 * A user who may not have more threads. A server that runs goes on with those it has, and can be
 * stopped; one that starts says why it cannot, ends, and leaves the directory to the next. Needs
 * root, whom such limits do not bind, to be somebody else.
 */
class ThreadLimitIT {
  private static final UnprivilegedUser USER = new UnprivilegedUser(54_321);
  private static final int SCANNERS = 48;
  private static final int BATCH = 1000;

  /** What a start says that got no thread: the server's words, the JVM's, the shell's. */
  private static final Pattern NO_THREAD =
      Pattern.compile(
          "stele: the server did not start: "
              + "(no more threads: .*|.*unable to create native thread.*|Could not create \\w*Thread.*"
              + "|.*Cannot create .*thread.*)\\s*");

  /** The garbage collector wants many threads, and not before there is much to do. */
  private static final String MANY_COLLECTOR_THREADS =
      "-XX:+UseG1GC -XX:+IgnoreUnrecognizedVMOptions -XX:G1ConcRefinementThreads=40"
          + " -XX:-G1UseAdaptiveConcRefinement -XX:G1ConcRefinementGreenZone=1"
          + " -XX:G1ConcRefinementThresholdStep=1 -XX:G1ConcRefinementYellowZone=80"
          + " -XX:G1ConcRefinementRedZone=120 -XX:G1UpdateBufferSize=8";

  /** From here on the collector goes by other rules. */
  private static final int OTHER_COLLECTOR = 20;

  /** Below /tmp, since the user has to get there. */
  private Path directory;

  private Installation installation;

  @BeforeEach
  void unpack() throws IOException {
    directory = Files.createTempDirectory(Path.of("/tmp"), "stele-limit");
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

  /**
   * It ends even if its virtual machine cannot: that of Java 17 waits at its end for threads of the
   * collector that it never got.
   */
  @Test
  void aServerGoesOnWithTheThreadsItHasAndCanBeStopped() throws IOException {
    Map<String, String> settings = Map.of("rpc.workers", "64", "rpc.queue.calls", "4");
    try (StandaloneServer server =
        server(settings).environment("STELE_SERVER_OPTS", MANY_COLLECTOR_THREADS)) {
      server.start().orFail();
      long pid = server.pid();
      try (SteleClient client = server.client()) {
        client.tables().create("small");
        VainScans scans = VainScans.of(client, server.port());
        int limit = ProcessGauges.of(pid).threads() + 4;
        limitThreads(pid, limit);
        try (scans) {
          scans.start(SCANNERS);
          scans.await(50);
          writeUntilTheCollectorGetsNoThread(client, server.directory());
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
      // The virtual machine needs a thread that takes the signal.
      limitThreads(pid, 1000);
      server.stop().orFail();
      assertTrue(
          server.log().stream().anyMatch(line -> line.contains("ended: signal to end")),
          () -> "not ended in order: " + server.log());
      server.start().orFail();
      try (SteleClient client = server.client()) {
        assertEquals("v", client.lookup("small", "a").get("f", "q"));
      }
    }
  }

  private static void writeUntilTheCollectorGetsNoThread(SteleClient client, Path data)
      throws IOException {
    if (Runtime.version().feature() >= OTHER_COLLECTOR) {
      return;
    }
    Path output = data.resolve("logs/stele.out");
    try (BatchWriter writer = client.batchWriter("small")) {
      Conditions.await(
          "the collector gets no thread",
          TestForm.generous(Duration.ofSeconds(60)),
          () -> {
            for (int i = 0; i < BATCH; i++) {
              writer.add(Mutation.of("row" + i).put("f", "q", "value"));
            }
            return Files.readString(output).contains("Failed to create refinement thread");
          });
    }
  }

  private void limitThreads(long pid, int limit) {
    Commands.run(
            directory,
            Map.of(),
            new byte[0],
            Duration.ofMinutes(1),
            Stream.concat(
                    USER.command().stream(),
                    Stream.of("prlimit", "--pid=" + pid, "--nproc=" + limit + ":"))
                .toList())
        .orFail();
  }

  @Test
  void aStartWithoutEnoughThreadsSaysSo() throws IOException {
    int needed;
    try (StandaloneServer server = server(Map.of())) {
      server.start().orFail();
      needed = ProcessGauges.of(server.pid()).threads();
      server.stop().orFail();
    }
    // Of a limit the command that starts the server needs some threads itself.
    int steps = TestForm.count(4, 24);
    for (int limit :
        IntStream.rangeClosed(1, steps).map(i -> 18 + (needed - 18) * i / steps).toArray()) {
      try (StandaloneServer server = server(Map.of())) {
        server.under(List.of("bash", "-c", "ulimit -u " + limit + "; exec \"$@\"", "limited"));
        CommandResult result = server.start();
        String what = "with " + limit + " threads: " + result;
        assertEquals(1, result.exitCode(), what);
        assertTrue(NO_THREAD.matcher(result.err()).matches(), what);
        // Nothing runs, and nothing holds the directory.
        assertEquals(List.of(), USER.processes(), what);
        server.under(List.of());
        server.start().orFail();
        server.stop().orFail();
      }
    }
  }
}
