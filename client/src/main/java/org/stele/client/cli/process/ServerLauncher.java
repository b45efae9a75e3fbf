package org.stele.client.cli.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * Starts a server process of its own session, with nothing of ours but its environment: its input
 * is empty and its output goes to {@code DIR/logs/stele.out}.
 */
final class ServerLauncher {
  private static final String OUTPUT = "stele.out";

  /** Of the last lines of a log, for an error message. */
  private static final int TAIL_BYTES = 16 << 10;

  private final Path directory;
  private final @Nullable Path home;
  private final Path output;
  private long outputStart;

  ServerLauncher(Path directory, @Nullable Path home) {
    this.directory = directory;
    this.home = home;
    this.output = directory.resolve("logs").resolve(OUTPUT);
  }

  /** Starts the server. */
  Process launch(List<String> serverArguments, Map<String, String> environment) throws IOException {
    makePrivateDirectory(directory);
    makePrivateDirectory(output.resolveSibling(""));
    makePrivateFile(output);
    outputStart = Files.size(output);
    List<String> command = new ArrayList<>();
    if (isOnPath("setsid", environment)) {
      command.add("setsid");
    }
    command.addAll(stele());
    command.add("standalone");
    command.add("--dir");
    command.add(directory.toString());
    command.addAll(serverArguments);
    return new ProcessBuilder(command)
        .directory(directory.toFile())
        .redirectInput(new File("/dev/null"))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
        .start();
  }

  /** The command that runs {@code stele}: its script, or this JVM's class path without one. */
  private List<String> stele() {
    if (home != null) {
      return List.of(home.resolve("bin").resolve("stele").toString());
    }
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp",
        System.getProperty("java.class.path"),
        "org.stele.client.cli.Main");
  }

  /** Why the server that was launched ended: the last thing it said. */
  String cause() throws IOException {
    String cause = null;
    for (String line : tail(output, outputStart)) {
      if (!line.isBlank()) {
        cause = line;
      }
    }
    return cause == null
        ? "it left no message, see " + output.resolveSibling("stele.log")
        : strip(cause);
  }

  private static String strip(String line) {
    return line.startsWith("stele: ") ? line.substring("stele: ".length()) : line;
  }

  private static List<String> tail(Path file, long from) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int start = (int) Math.max(Math.min(from, bytes.length), bytes.length - TAIL_BYTES);
    return new String(bytes, start, bytes.length - start, UTF_8).lines().toList();
  }

  private static boolean isOnPath(String command, Map<String, String> environment) {
    for (String folder : environment.getOrDefault("PATH", "").split(":")) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, command))) {
        return true;
      }
    }
    return false;
  }

  private static void makePrivateDirectory(Path path) throws IOException {
    if (!Files.exists(path)) {
      Files.createDirectories(path.toAbsolutePath().getParent());
      try {
        Files.createDirectory(
            path,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } catch (FileAlreadyExistsException e) {
        // Another start made it meanwhile.
        return;
      }
    } else if (!Files.isDirectory(path)) {
      throw new CommandFailure(path + " is not a directory");
    }
  }

  private static void makePrivateFile(Path file) throws IOException {
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (FileAlreadyExistsException e) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
  }
}
