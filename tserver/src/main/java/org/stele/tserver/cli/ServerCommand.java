package org.stele.tserver.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.client.cli.process.ServerOptions;
import org.stele.core.settings.ConfigLoader;
import org.stele.core.settings.Settings;
import org.stele.tserver.ClusterServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "server",
    description = {
      "Run a tablet server against a ZooKeeper and a file system of your own.",
      "The file needs at least zookeeper.connect and root.uri. SIGTERM and Ctrl-C end it in order."
    })
final class ServerCommand implements Callable<Integer> {
  private final CommandContext context;

  @Spec private CommandSpec spec;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      required = true,
      description = "Settings, in the form of conf/stele.properties.")
  private Path conf;

  @Option(
      names = "--logs",
      paramLabel = "DIR",
      description = "Where the server's log goes (default: logs in the unpacked distribution).")
  private @Nullable Path logs;

  @Option(
      names = {"-s", "--set"},
      paramLabel = "NAME=VALUE",
      description = "A setting, before the file; may be given several times.")
  private @Nullable Map<String, String> set;

  ServerCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    if (!Files.isReadable(conf)) {
      throw new CommandFailure("cannot read " + conf);
    }
    Settings settings =
        ConfigLoader.load(
            List.of(conf),
            context.environment(),
            ServerOptions.checked(spec, set == null ? Map.of() : set));
    ServerLog.into(logDirectory(), context, false);
    return ClusterServer.run(settings, null);
  }

  private Path logDirectory() {
    if (logs != null) {
      return logs.toAbsolutePath();
    }
    Path home = context.home();
    return home == null ? Path.of("logs").toAbsolutePath() : home.resolve("logs");
  }
}
