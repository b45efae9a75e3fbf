package org.stele.client.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code stele start}, with a script in place of the server. */
class ServerStartTest {
  private final CommandRunner runner = new CommandRunner();

  @TempDir Path temp;
  private Path data;
  private Path output;

  @BeforeEach
  void prepare() throws IOException {
    runner.environment.clear();
    runner.environment.put("PATH", System.getenv("PATH"));
    runner.home = temp.resolve("home");
    Files.createDirectories(temp.resolve("home/bin"));
    data = temp.resolve("data");
    output = data.resolve("logs/stele.out");
  }

  private void server(String script) throws IOException {
    Path file = Files.writeString(temp.resolve("home/bin/stele"), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    }
  }

  private void assertStartFails(String why) {
    assertEquals(1, runner.run("start", "--dir", data.toString()));
    assertEquals("stele: the server did not start: " + why + "\n", runner.err);
  }

  @Test
  void whatIsNotOursIsNotTouched() throws IOException {
    server("exit 1");
    Files.createDirectory(data);
    Files.writeString(data.resolve("thesis.tex"), "");
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertStartFails(
        data
            + " is not empty and no Stele instance (it holds thesis.tex and no file VERSION): name an"
            + " empty or a new directory");
    assertEquals(List.of("thesis.tex"), names(data));
    assertEquals("rwxr-xr-x", PosixFilePermissions.toString(Files.getPosixFilePermissions(data)));
  }

  @Test
  void outputOfManyServersIsNotKeptForEver() throws IOException {
    server("head -c 700000 /dev/zero | tr '\\0' '\\n'; echo last words; exit 1");
    for (int i = 0; i < 5; i++) {
      assertStartFails("last words");
    }
    assertEquals(List.of("stele.out", "stele.out.1"), names(data.resolve("logs")));
    assertTrue(Files.size(output) < 2 << 20);
    assertTrue(Files.size(data.resolve("logs/stele.out.1")) < 2 << 20);
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(output)));
  }

  /** More than an array can hold. */
  @Test
  void theLastWordsOfMuchOutputAreFound() throws IOException {
    server("truncate -s 3G stele.out; echo; echo last words; exit 1");
    assertStartFails("last words");
    assertFalse(runner.err.contains("memory"), runner.err);
  }

  @Test
  void portIsFollowedByThatOfZooKeeperAndSingleSettingsAreStronger() throws IOException {
    server("echo \"$@\"; exit 1");
    String[] start = {"start", "--dir", data.toString(), "--port"};
    for (String[] given :
        new String[][] {
          {"9000", "--set=rpc.port=9000 --set=zookeeper.port=9001"},
          {"0", "--set=rpc.port=0 --set=zookeeper.port=0"}
        }) {
      assertEquals(1, runner.run(start[0], start[1], start[2], start[3], given[0]));
      assertTrue(runner.err.endsWith(" " + given[1] + "\n"), runner.err);
    }
    runner.run(start[0], start[1], start[2], start[3], "1", "-s", "zookeeper.port=7");
    assertTrue(runner.err.endsWith("--set=rpc.port=1 --set=zookeeper.port=7\n"), runner.err);
  }

  /** A shell that holds the directory's lock, and says that it is ready. */
  @Test
  void theServerIsConnectedToAsOptionsTellIt() throws IOException {
    server(
        """
        cd ..
        exec 9>>lock
        echo $$ >stele.pid
        cat >status.json <<END
        {"pid":$$,"startTicks":0,"address":"a:1","zookeeper":"zk:1","version":"v","session":"s","instance":"i"}
        END
        exec sleep 20
        """);
    try {
      int exitCode = runner.run("start", "--dir=" + data, "--timeout=5s", "--set=rpc.tls=true");
      assertEquals(0, exitCode, runner.err);
      assertNotNull(runner.instance.clientOptions.get(0).tls());
    } finally {
      long pid = Long.parseLong(Files.readString(data.resolve("stele.pid")).strip());
      ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }
  }
}
