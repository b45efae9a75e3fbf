package org.stele.test.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * The Java programs of the README, run as it says. (Those in other languages are run by {@code
 * test/interop/run}.)
 */
class ReadmeProgramsIT {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String ADDRESS = "127.0.0.1:9641";

  @TempDir private Path directory;

  @Test
  void theyPrintWhatTheyWrote() throws IOException {
    try (StandaloneServer server = StandaloneServer.started(directory.resolve("data"), Map.of())) {
      assertEquals(List.of("Ada Lovelace"), run(server, "First"));
      List<String> all = List.of("ada is Ada Lovelace", "alan is Alan Turing");
      assertEquals(all, run(server, "Batches"));
      assertEquals(all, run(server, "Batches"), "a second time");
      assertEquals(List.of(), undescribedCounters(server));
    }
  }

  private static List<String> undescribedCounters(StandaloneServer server) throws IOException {
    String described = Files.readString(Readme.ROOT.resolve("docs/metrics.md"), UTF_8);
    try (SteleClient client = server.client()) {
      return client.servers().status(server.address()).counters().keySet().stream()
          .map(name -> name.replaceFirst("^rpc\\.calls\\.\\w+$", "rpc.calls.METHOD"))
          .map(name -> name.replaceFirst("^(rpc\\.time)\\.\\w+\\.(\\w+)\\..*", "$1.METHOD.$2.*"))
          .filter(name -> !described.contains("`" + name + "`"))
          .sorted()
          .toList();
    }
  }

  @Test
  void linksLeadToFilesOfTheDistribution() throws IOException {
    assertEquals(List.of(), Links.dead(Installation.shared().home()));
  }

  /** What a program prints that connects to this server. */
  private List<String> run(StandaloneServer server, String name) throws IOException {
    String program = Readme.javaPrograms().get(name);
    Path source = directory.resolve(name + ".java");
    Files.writeString(source, program.replace(ADDRESS, server.zookeeper()), UTF_8);
    String libraries = Installation.shared().home().resolve("lib").resolve("*").toString();
    CommandResult result =
        Commands.run(
            directory,
            Map.of(),
            new byte[0],
            LIMIT,
            List.of("java", "-cp", libraries, source.toString()));
    return result.orFail().lines();
  }
}
