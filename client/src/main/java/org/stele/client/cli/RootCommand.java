package org.stele.client.cli;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.stele.core.coordination.ConnectString;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code stele} itself: the options that every command has. */
@Command(
    name = "stele",
    description = "A distributed tablet server: start it, load data, look it up.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    versionProvider = RootCommand.Version.class,
    scope = ScopeType.INHERIT,
    sortOptions = false,
    usageHelpAutoWidth = false,
    footer = {
      "",
      "A command finds its instance by --connect or --dir, else by STELE_CONNECT or STELE_DIR, else it",
      "is the directory 'data' of the unpacked distribution.",
      "",
      "Rows, columns and values may hold any bytes: in arguments and output \\xNN is a byte and \\\\ a",
      "backslash; with --hex all is hex. An argument that begins with a dash goes behind '--'.",
      "",
      "Exit code: 0 done, 1 failed, 2 wrong usage."
    })
final class RootCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Option(
      names = "--connect",
      paramLabel = "HOST:PORT",
      scope = ScopeType.INHERIT,
      description = "The instance's ZooKeeper servers, with commas between and an optional /path.")
  private @Nullable String connect;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      description = "The directory of a standalone instance.")
  private @Nullable Path directory;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      scope = ScopeType.INHERIT,
      defaultValue = "60s",
      description = "How long an operation may take, such as 500ms, 10s, 5m (default: 60s).")
  private Duration timeout;

  @Option(
      names = "--json",
      scope = ScopeType.INHERIT,
      description = "Print one JSON object per line.")
  private boolean json;

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Print stack traces, and the client's log, to standard error.")
  private boolean debug;

  @Override
  public void run() {
    throw wrongUsage("Missing command");
  }

  @Nullable String connect() {
    if (connect != null && directory != null) {
      throw wrongUsage("--connect and --dir exclude each other: an instance is one of them");
    }
    if (connect != null) {
      try {
        ConnectString.parse(connect);
      } catch (IllegalArgumentException e) {
        throw wrongUsage("--connect " + connect + ": " + e.getMessage());
      }
    }
    return connect;
  }

  ParameterException wrongUsage(String what) {
    return new ParameterException(spec.commandLine(), what);
  }

  @Nullable Path directory() {
    if (directory != null && directory.toString().isEmpty()) {
      throw wrongUsage("--dir '': it needs the path of a directory");
    }
    return directory;
  }

  Duration timeout() {
    return timeout;
  }

  boolean json() {
    return json;
  }

  boolean debug() {
    return debug;
  }

  /** The version of the jar; of classes outside a jar it is unknown. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"stele " + text()};
    }

    static String text() {
      String version = RootCommand.class.getPackage().getImplementationVersion();
      return version == null ? "(development)" : version;
    }
  }
}
