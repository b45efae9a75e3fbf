package org.stele.client.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.stele.client.ClientOptions;
import org.stele.core.json.Json;
import org.stele.core.net.TlsOptions;
import org.stele.core.settings.ConfigLoader;
import org.stele.core.settings.SettingException;
import org.stele.core.settings.Settings;
import org.stele.core.time.Clock;

/**
 * What a command sees of the world: its streams, the options of {@code stele} itself, and the
 * instance they name. Used by one thread.
 */
public final class CommandContext {
  private final Surroundings surroundings;
  private final Output out;
  private final RootCommand options;

  CommandContext(Surroundings surroundings, RootCommand options) {
    this.surroundings = surroundings;
    this.out = new Output(surroundings.out());
    this.options = options;
  }

  /** Standard output, for data. */
  public Output out() {
    return out;
  }

  /** Standard error, for messages. */
  public PrintStream err() {
    return surroundings.err();
  }

  /** Standard input. */
  public InputStream in() {
    return surroundings.in();
  }

  public Clock clock() {
    return surroundings.clock();
  }

  public Map<String, String> environment() {
    return surroundings.environment();
  }

  /** The unpacked distribution; null if the command was not started by its script. */
  public @Nullable Path home() {
    return surroundings.home();
  }

  /** Whether standard error is a terminal, so that a line on it can be drawn anew. */
  public boolean isErrorTerminal() {
    return surroundings.errorIsTerminal();
  }

  /** {@code --json} was given. */
  public boolean json() {
    return options.json();
  }

  /** {@code --debug} was given. */
  public boolean debug() {
    return options.debug();
  }

  /** {@code --timeout}: how long an operation may take. */
  public Duration timeout() {
    return options.timeout();
  }

  /** Prints one JSON object on a line of its own. */
  public void printJson(Map<String, ? extends @Nullable Object> object) {
    out.line(Json.write(object));
  }

  /** Prints a line for people, which {@code --json} leaves out. */
  public void say(String line) {
    if (!json()) {
      out.line(line);
    }
  }

  /** The instance the options and the environment name. */
  public Target target() {
    return Target.of(options.connect(), options.directory(), environment(), home());
  }

  /** Whether an option names the instance, and not only the environment or the default. */
  public boolean isInstanceNamed() {
    return options.connect() != null || options.directory() != null;
  }

  /** The words that run {@code stele} as a process: its script, or this class path without one. */
  public List<String> steleCommand() {
    Path home = home();
    if (home != null) {
      return List.of(home.resolve("bin").resolve("stele").toString());
    }
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp",
        System.getProperty("java.class.path"),
        Main.class.getName());
  }

  /** The directory of a standalone instance, for commands that work on nothing else. */
  public Path directory() {
    if (options.connect() != null) {
      throw options.wrongUsage(
          "this command works on the directory of a standalone instance (--dir), not on --connect");
    }
    return Target.directory(options.directory(), environment(), home());
  }

  /** Connects to the instance. */
  public Session connect() {
    return connect(connectString(), clientOptions().withDeadline(timeout()));
  }

  /** Connects to an instance by ZooKeeper's connect string. */
  public Session connect(String connectString, ClientOptions clientOptions) {
    return surroundings.connector().connect(connectString, clientOptions);
  }

  /**
   * How servers are connected to: with TLS if the settings of the distribution, of the instance's
   * directory, or in the environment want it.
   */
  public ClientOptions clientOptions() {
    return clientOptions(target().directory(), Map.of());
  }

  /**
   * How a server is connected to that was told more by options.
   *
   * @param directory of a standalone instance; null if it has none
   * @param serverOptions settings before all others
   */
  public ClientOptions clientOptions(@Nullable Path directory, Map<String, String> serverOptions) {
    try {
      Settings settings = ConfigLoader.load(settingsFiles(directory), environment(), serverOptions);
      ClientOptions options = ClientOptions.defaults();
      return TlsOptions.isWanted(settings) ? options.withTls(TlsOptions.of(settings)) : options;
    } catch (SettingException e) {
      throw new CommandFailure(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<Path> settingsFiles(@Nullable Path directory) {
    List<Path> files = new ArrayList<>();
    Path home = home();
    if (home != null) {
      files.add(home.resolve("conf").resolve("stele.properties"));
    }
    if (directory != null) {
      files.add(directory.resolve("conf").resolve("stele.properties"));
    }
    return files;
  }

  /** ZooKeeper's connect string of the instance. */
  public String connectString() {
    try {
      return target().connectString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Connects to an instance. */
  interface Connector {
    Session connect(String connectString, ClientOptions options);
  }

  /** The process around a command: the real one, or that of a test. */
  record Surroundings(
      InputStream in,
      OutputStream out,
      PrintStream err,
      Map<String, String> environment,
      @Nullable Path home,
      boolean errorIsTerminal,
      Clock clock,
      Connector connector) {
    Surroundings {
      Objects.requireNonNull(connector);
      environment = Map.copyOf(environment);
    }
  }
}
