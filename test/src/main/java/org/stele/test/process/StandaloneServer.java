package org.stele.test.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.stele.client.SteleClient;
import org.stele.client.instance.ServerStatusFile;
import org.stele.test.check.Conditions;

/**
 * A standalone server in a directory of its own, started and stopped with {@code bin/stele}. Its
 * ports are free ones, read back from {@code status}. Close ends the process, whatever its state.
 */
public final class StandaloneServer implements AutoCloseable {
  private static final Duration COMMAND_LIMIT = Duration.ofMinutes(3);

  private final Installation installation;
  private final Path directory;
  private final Map<String, String> settings;
  private final Map<String, String> environment = new TreeMap<>();
  private List<String> wrapper = List.of();
  private @Nullable UnprivilegedUser owner;

  /** Of the last successful start. */
  private @Nullable Long started;

  /**
   * A server that is not started yet; {@code settings} go into its {@code conf/stele.properties}.
   */
  public StandaloneServer(Installation installation, Path directory, Map<String, String> settings) {
    this.installation = installation;
    this.directory = directory;
    this.settings = new TreeMap<>(settings);
    this.settings.putIfAbsent("rpc.port", "0");
    this.settings.putIfAbsent("zookeeper.port", "0");
    Serving.current().settings().forEach(this.settings::putIfAbsent);
    environment.put("STELE_DIR", directory.toString());
    environment.put("STELE_CONNECT", "");
    environment.put("STELE_SERVER_OPTS", installation.serverOptions());
  }

  /** A started server with these settings. */
  public static StandaloneServer started(Path directory, Map<String, String> settings) {
    StandaloneServer server = new StandaloneServer(Installation.shared(), directory, settings);
    server.start().orFail();
    return server;
  }

  /**
   * Has the server start faster and run slower, for tests that start it often and do little with
   * it. Not for those where threads meet: they are to run the code that users run.
   */
  public StandaloneServer shortLived() {
    return environment("STELE_SERVER_OPTS", installation.shortLivedServerOptions());
  }

  /** A started server that is {@link #shortLived}. */
  public static StandaloneServer startedShortLived(Path directory, Map<String, String> settings) {
    StandaloneServer server =
        new StandaloneServer(Installation.shared(), directory, settings).shortLived();
    server.startDirectly();
    return server;
  }

  /** Sets a variable for all commands that follow; the server inherits it at its next start. */
  public StandaloneServer environment(String name, String value) {
    environment.put(name, value);
    return this;
  }

  /** Gives the virtual machine of the server one more option, from its next start on. */
  public StandaloneServer serverOption(String option) {
    environment.merge("STELE_SERVER_OPTS", option, (before, more) -> before + " " + more);
    return this;
  }

  /**
   * Has all commands that follow, and the server that they start, run by another command: {@code
   * bash -c 'umask 0; exec "$@"' wrapper}.
   */
  public StandaloneServer under(List<String> command) {
    wrapper = List.copyOf(command);
    return this;
  }

  /** Has all commands run as a user without privileges, who gets the directory. */
  public StandaloneServer as(UnprivilegedUser user) {
    owner = user;
    return this;
  }

  /** Changes a setting; it has an effect at the next start. */
  public StandaloneServer setting(String name, String value) {
    settings.put(name, value);
    return this;
  }

  public Path directory() {
    return directory;
  }

  /** {@code stele start}, successful or not. */
  public CommandResult start() {
    configure();
    CommandResult result = stele("start");
    if (result.exitCode() == 0) {
      started = pid();
    }
    return result;
  }

  /**
   * Starts the server in the foreground, as a child of this process; returns before it is ready.
   * What it prints goes to {@code output}.
   */
  public Process startInForeground(Path output) {
    configure();
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command("standalone", "--dir", directory.toString()))
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      Commands.set(environment, builder);
      return builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the process as a power switch would, and starts it again. */
  public void restartAfterKill() {
    kill9();
    startDirectly();
  }

  /**
   * Starts the server without the command {@code start}, which is a process of its own and takes as
   * long. Returns when the server is ready.
   */
  public void startDirectly() {
    Path logs = directory.resolve("logs");
    Path status = directory.resolve("status.json");
    try {
      Files.createDirectories(logs);
      Files.deleteIfExists(status);
      Process process = startInForeground(logs.resolve("stele.out"));
      started = process.pid();
      Conditions.await(
          "the server in " + directory + " has started",
          COMMAND_LIMIT,
          () -> {
            if (!process.isAlive()) {
              throw new AssertionError("the server did not start: " + log());
            }
            return Files.exists(status);
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try (SteleClient client = client()) {
      Conditions.await(
          "the server in " + directory + " is ready",
          COMMAND_LIMIT,
          () -> client.servers().status(address()).ready());
    }
  }

  /** Writes the settings, and gives the directory to its user. */
  private void configure() {
    try {
      Path conf = directory.resolve("conf");
      Files.createDirectories(conf);
      List<String> lines = new ArrayList<>();
      settings.forEach((name, value) -> lines.add(name + "=" + value));
      Files.write(conf.resolve("stele.properties"), lines);
      UnprivilegedUser user = owner;
      if (user != null) {
        user.own(directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public CommandResult stop() {
    return stele("stop");
  }

  /** Runs {@code bin/stele} for this server. */
  public CommandResult stele(String... arguments) {
    return stele(new byte[0], arguments);
  }

  public CommandResult stele(byte[] input, String... arguments) {
    return Commands.run(installation.home(), environment, input, COMMAND_LIMIT, command(arguments));
  }

  private List<String> command(String... arguments) {
    List<String> command = new ArrayList<>();
    UnprivilegedUser user = owner;
    if (user != null) {
      command.addAll(user.command());
    }
    command.addAll(wrapper);
    command.add(installation.script().toString());
    Collections.addAll(command, arguments);
    return command;
  }

  /** The fields of {@code status --json}. */
  public Map<String, String> status() {
    Map<String, String> fields = new TreeMap<>();
    Matcher matcher =
        Pattern.compile("\"([a-z_A-Z]+)\"\\s*:\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^,}\\s]+))")
            .matcher(stele("status", "--json").out());
    while (matcher.find()) {
      fields.put(matcher.group(1), matcher.group(2) == null ? matcher.group(3) : matcher.group(2));
    }
    return fields;
  }

  /** What the server that is running, or was last, wrote when it was ready. */
  private ServerStatusFile statusFile() {
    try {
      ServerStatusFile status = ServerStatusFile.read(directory);
      if (status == null) {
        throw new AssertionError("no server was ready in " + directory);
      }
      return status;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public long pid() {
    return statusFile().pid();
  }

  /** host:port of the endpoint. */
  public String address() {
    return statusFile().address();
  }

  public int port() {
    String address = address();
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /** What clients connect to. */
  public String zookeeper() {
    return statusFile().zookeeper();
  }

  public SteleClient client() {
    return SteleClient.connect(zookeeper(), Serving.current().clientOptions());
  }

  /** Ends the process at once, as a power switch would; returns when it is gone. */
  public void kill9() {
    kill9(pid());
  }

  /** Ends the process with this id at once. */
  public static void kill9(long pid) {
    ProcessHandle.of(pid)
        .ifPresent(
            process -> {
              CompletableFuture<ProcessHandle> end = process.onExit();
              process.destroyForcibly();
              await(end);
            });
  }

  /** Sends a signal, such as STOP, CONT or TERM. */
  public static void signal(long pid, String name) {
    Commands.run(
            Path.of("/"),
            Map.of(),
            new byte[0],
            Duration.ofSeconds(10),
            List.of("kill", "-" + name, "" + pid))
        .orFail();
  }

  private static void await(CompletableFuture<ProcessHandle> end) {
    try {
      end.get(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (java.util.concurrent.ExecutionException | TimeoutException e) {
      throw new AssertionError("the process does not end", e);
    }
  }

  /** The lines of the server's log files, oldest first. */
  public List<String> log() {
    try (var files = Files.list(directory.resolve("logs"))) {
      List<String> lines = new ArrayList<>();
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        lines.addAll(Files.readAllLines(file, java.nio.charset.StandardCharsets.ISO_8859_1));
      }
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    Path pidFile = directory.resolve("stele.pid");
    try {
      if (Files.exists(pidFile)) {
        end(Long.parseLong(Files.readString(pidFile).trim()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Long last = started;
    if (last != null) { // one that hangs at its end has no such file
      end(last);
    }
  }

  /** Ends the process if it is this server, whose command line names the directory. */
  private void end(long pid) {
    boolean ours =
        ProcessHandle.of(pid)
            .flatMap(process -> process.info().commandLine())
            .map(line -> line.contains(directory.toString()))
            .orElse(false);
    if (ours) {
      signal(pid, "CONT");
      kill9(pid);
    }
  }
}
