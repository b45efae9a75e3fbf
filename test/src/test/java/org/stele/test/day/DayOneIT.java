package org.stele.test.day;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.instance.ServerStatusFile;
import org.stele.core.json.Json;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * The unpacked tarball as somebody has it on the first day: in a folder with blanks in its name,
 * called from elsewhere through symbolic links, with {@code java} on the path and no {@code
 * JAVA_HOME}. Its server, in the default directory, is started once, with descriptors open that are
 * none of its business.
 */
class DayOneIT {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final Path ROOT = Path.of("/");

  @TempDir private static Path directory;

  private static Installation installation;
  private static Path data;
  private static Path links;
  private static Path marker;
  private static CommandResult started;
  private static long pid;

  @BeforeAll
  static void start() throws IOException {
    installation = Installation.unpackInto(directory.resolve("my programs"));
    data = installation.home().resolve("data");
    links = Files.createDirectory(directory.resolve("my links"));
    Files.createSymbolicLink(links.resolve("to stele"), installation.script());
    Files.createSymbolicLink(links.resolve("stele"), Path.of("to stele"));
    marker = Files.writeString(directory.resolve("marker"), "held open by the caller");
    // 7 is the pipe to this test: run() returns only when nobody holds it any more.
    started =
        run(
                ROOT,
                environment(),
                "bash",
                "-c",
                "exec 7>&1 8<\"$1\"; exec \"$2\" start",
                "caller",
                marker.toString(),
                links.resolve("stele").toString())
            .orFail();
    pid = status().pid();
  }

  @AfterAll
  static void stop() {
    if (installation != null) {
      new StandaloneServer(installation, data, Map.of()).close();
    }
  }

  private static ServerStatusFile status() throws IOException {
    ServerStatusFile status = ServerStatusFile.read(data);
    if (status == null) {
      throw new AssertionError("no server is ready in " + data + ": " + started);
    }
    return status;
  }

  /** As a user has it, with ports that are free and nothing that names an instance. */
  private static Map<String, String> environment() {
    Map<String, String> environment = new TreeMap<>();
    environment.put("JAVA_HOME", "");
    environment.put("STELE_DIR", "");
    environment.put("STELE_CONNECT", "");
    environment.put("STELE_SETTING_RPC_PORT", "0");
    environment.put("STELE_SETTING_ZOOKEEPER_PORT", "0");
    environment.put(
        "PATH", Path.of(System.getProperty("java.home"), "bin") + ":" + System.getenv("PATH"));
    return environment;
  }

  private static CommandResult run(
      Path workingDirectory, Map<String, String> environment, String... command) {
    return Commands.run(workingDirectory, environment, new byte[0], LIMIT, List.of(command));
  }

  private static CommandResult stele(String... arguments) {
    List<String> command = new ArrayList<>(List.of(links.resolve("stele").toString()));
    Collections.addAll(command, arguments);
    return Commands.run(ROOT, environment(), new byte[0], LIMIT, command);
  }

  private static void assertOneLine(String begin, CommandResult result) {
    List<String> lines = result.err().lines().toList();
    assertEquals(1, lines.size(), result::toString);
    assertTrue(lines.get(0).startsWith(begin), result::toString);
    assertEquals("", result.out(), result::toString);
  }

  @Test
  void worksFromAnywhere() {
    String version = stele("--version").orFail().out();
    assertTrue(version.matches("stele \\d+\\.\\d+\\.\\d+.*\\n"), version);
    Path home = installation.home();
    assertEquals(version, run(home, environment(), "bin/stele", "--version").orFail().out());
    Map<String, String> onPath = environment();
    onPath.put("PATH", links + ":" + onPath.get("PATH"));
    assertEquals(version, run(ROOT, onPath, "sh", "-c", "stele --version").orFail().out());
    Map<String, String> javaHome = environment();
    javaHome.put("JAVA_HOME", System.getProperty("java.home"));
    assertEquals(
        version, run(ROOT, javaHome, installation.script().toString(), "--version").orFail().out());
  }

  @Test
  void saysThatItNeedsJava() throws IOException {
    Map<String, String> wrong = environment();
    wrong.put("JAVA_HOME", "/no/such/java");
    CommandResult result = run(ROOT, wrong, installation.script().toString(), "--version");
    assertEquals(1, result.exitCode(), result::toString);
    assertOneLine("stele: JAVA_HOME is /no/such/java, and there is no ", result);

    // A path with what the script needs, and no java.
    Path poor = Files.createDirectory(directory.resolve("poor"));
    for (String tool : List.of("dirname", "readlink", "sed", "head")) {
      Path script =
          Files.writeString(poor.resolve(tool), "#!/bin/sh\nexec " + which(tool) + " \"$@\"\n");
      Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    }
    Map<String, String> without = environment();
    without.put("PATH", poor.toString());
    result = run(ROOT, without, installation.script().toString(), "--version");
    assertEquals(1, result.exitCode(), result::toString);
    assertOneLine("stele: there is no java on the path and JAVA_HOME is not set: Java 17", result);
  }

  private static Path which(String tool) {
    return Stream.of(System.getenv("PATH").split(":"))
        .map(folder -> Path.of(folder, tool))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theServerHasLeftItsCaller() throws IOException {
    Path proc = Path.of("/proc", Long.toString(pid));
    try (Stream<Path> descriptors = Files.list(proc.resolve("fd"))) {
      for (Path descriptor : descriptors.toList()) {
        String target = Files.readSymbolicLink(descriptor).toString();
        assertFalse(target.startsWith("pipe:"), descriptor + " is " + target);
        assertFalse(target.equals(marker.toRealPath().toString()), descriptor + " is " + target);
      }
    }
    assertEquals(Path.of("/dev/null"), Files.readSymbolicLink(proc.resolve("fd/0")));
    assertEquals(
        data.resolve("logs").toRealPath(), Files.readSymbolicLink(proc.resolve("cwd")), "cwd");
    String stat = Files.readString(proc.resolve("stat"), UTF_8);
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    assertEquals(Long.toString(pid), fields[3], "the session is its own");
    assertEquals("0", fields[4], "it has no terminal");
  }

  @Test
  void aSecondServerIsRefusedByName() throws IOException {
    CommandResult second = stele("standalone");
    assertEquals(1, second.exitCode(), second::toString);
    assertOneLine("stele: " + data.toRealPath() + " is in use by process " + pid + ": ", second);
    CommandResult again = stele("start").orFail();
    assertTrue(again.out().contains("is running already (pid " + pid + ")"), again::toString);
    assertEquals(pid, status().pid());
  }

  @Test
  void statusSaysWhereItIs() throws IOException {
    Map<String, ?> json = Json.parseObject(stele("status", "--json").orFail().out());
    assertEquals(pid, json.get("pid"));
    assertEquals(true, json.get("ready"));
    assertEquals(status().address(), json.get("address"));
    assertEquals(status().zookeeper(), json.get("zookeeper"));
    assertEquals(status().version(), json.get("version"));
    CommandResult other = stele("status", "--dir", directory.resolve("nobody's").toString());
    assertEquals(1, other.exitCode(), other::toString);
    assertTrue(other.out().contains("is not running"), other::toString);
    assertFalse(Files.exists(directory.resolve("nobody's")), "asking makes no directory");
  }

  @Test
  void aWrongValueIsOneLine() throws IOException {
    Path wrong = directory.resolve("wrong value");
    Path conf = Files.createDirectories(wrong.resolve("conf")).resolve("stele.properties");
    Files.writeString(conf, "# how large logs get\nwal.size = 10 parsecs\n");
    CommandResult result = stele("start", "--dir", wrong.toString());
    assertEquals(1, result.exitCode(), result::toString);
    assertOneLine(
        "stele: the server did not start: "
            + conf.toRealPath()
            + ": wal.size = '10 parsecs' is not allowed: it must be a size from 64K to 16G",
        result);
    assertFalse(Files.exists(wrong.resolve("stele.pid")));
  }

  @Test
  void wrongUsageIsTwo() {
    for (List<String> usage :
        List.of(
            List.<String>of(),
            List.of("no-such-command"),
            List.of("start", "--no-such-option"),
            List.of("put", "table", "row"))) {
      CommandResult result = stele(usage.toArray(String[]::new));
      assertEquals(2, result.exitCode(), result::toString);
      assertTrue(result.err().startsWith("stele: "), result::toString);
      assertEquals("", result.out(), result::toString);
    }
  }
}
