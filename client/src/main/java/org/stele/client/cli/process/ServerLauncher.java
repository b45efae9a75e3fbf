package org.stele.client.cli.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.client.instance.InstanceContents;

/**
 * Starts a server process of its own session, with nothing of ours but its environment: its input
 * is empty, its output goes to {@code DIR/logs/stele.out}, and it runs in {@code DIR/logs}, where
 * the virtual machine leaves its notes if it crashes. The output is what a log cannot have: words
 * of the virtual machine and of a start that failed. When there is much of it the next start begins
 * a new file, and keeps one old one.
 */
final class ServerLauncher {
  /** Of the last lines of a log, for an error message. */
  private static final int TAIL_BYTES = 16 << 10;

  /** Of output that earlier servers left. */
  private static final long MAX_OUTPUT_BYTES = 1 << 20;

  /** As conf/log4j2-server.xml lays lines out. */
  private static final Pattern ERROR_LINE =
      Pattern.compile("\\S+ ERROR .*? - (?:stele standalone ended: )?(.*)");

  /** Lines on a process's output that tell no cause: stack frames, and how the JVM takes leave. */
  private static final Pattern SAYS_NOTHING =
      Pattern.compile(
          "\\s*|\\s+at .*|\\[[^\\]]*]\\[warning].*"
              + "|Error: (Could not create the Java Virtual Machine|A fatal exception has occurred).*");

  /** A line with which the virtual machine tells of its crash, and where it tells more. */
  private static final Pattern CRASH_LINE = Pattern.compile("#\\s*(.*)");

  private static final Pattern CRASH_REPORT = Pattern.compile("#\\s*(/.*hs_err.*)");

  /** Of the lines about a crash: what happened, and in which way. */
  private static final int CRASH_CAUSE_LINES = 2;

  private final CommandContext context;
  private final Path directory;
  private final Path logs;
  private final Path output;
  private final Path log;
  private long outputStart;
  private long logStart;

  ServerLauncher(CommandContext context, Path directory) {
    this.context = context;
    this.directory = directory;
    this.logs = directory.resolve("logs");
    this.output = logs.resolve("stele.out");
    this.log = logs.resolve("stele.log");
  }

  /** Starts the server. A directory that cannot be an instance is left as it is. */
  Process launch(List<String> serverArguments) throws IOException {
    String objection = InstanceContents.objection(directory);
    if (objection != null) {
      throw new CommandFailure("the server did not start: " + objection);
    }
    makePrivateDirectory(directory);
    makePrivateDirectory(logs);
    if (Files.exists(output) && Files.size(output) > MAX_OUTPUT_BYTES) {
      Files.move(output, logs.resolve("stele.out.1"), StandardCopyOption.REPLACE_EXISTING);
    }
    makePrivateFile(output);
    outputStart = Files.size(output);
    logStart = Files.exists(log) ? Files.size(log) : 0;
    List<String> command = new ArrayList<>();
    if (isOnPath("setsid", context.environment())) {
      command.add("setsid");
    }
    command.addAll(context.steleCommand());
    command.add("standalone");
    command.add("--background");
    command.add("--dir");
    command.add(directory.toString());
    command.addAll(serverArguments);
    return new ProcessBuilder(command)
        .directory(logs.toFile())
        .redirectInput(new File("/dev/null"))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
        .start();
  }

  /** Why the server that was launched ended: the last error of its log, else its last words. */
  String cause() throws IOException {
    @Nullable String error = null;
    for (String line : tail(log, logStart)) {
      Matcher matcher = ERROR_LINE.matcher(line);
      error = matcher.matches() ? matcher.group(1) : error;
    }
    if (error == null) {
      List<String> lastWords = tail(output, outputStart);
      error = crash(lastWords);
      for (String line : error == null ? lastWords : List.<String>of()) {
        error = SAYS_NOTHING.matcher(line).matches() ? error : line;
      }
    }
    if (error == null) {
      return "it left no message in " + logs;
    }
    return error.startsWith("stele: ") ? error.substring("stele: ".length()) : error;
  }

  /** What the virtual machine says of its crash, in one line; null if it had none. */
  private static @Nullable String crash(List<String> lines) {
    List<String> said = new ArrayList<>();
    String report = "";
    for (String line : lines) {
      Matcher text = CRASH_LINE.matcher(line);
      if (text.matches() && !text.group(1).isEmpty() && said.size() < CRASH_CAUSE_LINES) {
        said.add(text.group(1));
      }
      Matcher file = CRASH_REPORT.matcher(line);
      report = file.matches() ? " (see " + file.group(1) + ")" : report;
    }
    return said.isEmpty() ? null : String.join(" ", said) + report;
  }

  /** The last lines of a file, from an offset if it has not become shorter. */
  private static List<String> tail(Path file, long from) throws IOException {
    if (!Files.exists(file)) {
      return List.of();
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long end = channel.size();
      long begin = Math.max(from <= end ? from : 0, end - TAIL_BYTES);
      InputStream bytes = Channels.newInputStream(channel.position(begin));
      return new String(bytes.readNBytes((int) (end - begin)), UTF_8).lines().toList();
    }
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
