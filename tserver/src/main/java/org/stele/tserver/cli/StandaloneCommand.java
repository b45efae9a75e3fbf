package org.stele.tserver.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.core.settings.ConfigLoader;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.server.process.InstanceDirectory;
import org.stele.server.process.StartException;
import org.stele.tserver.Standalone;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "standalone",
    description = {
      "Run a tablet server and a ZooKeeper in this process, with everything in one directory.",
      "SIGTERM and Ctrl-C end it in order. 'stele start' does the same in the background."
    })
final class StandaloneCommand implements Callable<Integer> {
  private final CommandContext context;

  @Option(
      names = "--port",
      paramLabel = "N",
      description =
          "Port of the server; ZooKeeper gets the next one. 0 takes free ones (default: 9640).")
  private @Nullable Integer port;

  @Option(
      names = {"-s", "--set"},
      paramLabel = "NAME=VALUE",
      description = "A setting, before all configuration; may be given several times.")
  private @Nullable Map<String, String> set;

  StandaloneCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Path path = context.directory();
    ServerLog.into(path.resolve("logs"), context);
    InstanceDirectory directory = open(path);
    Settings settings;
    try {
      settings =
          ConfigLoader.load(settingsFiles(directory), context.environment(), options(port, set));
    } catch (IOException | RuntimeException e) {
      directory.close();
      throw e;
    }
    return Standalone.run(directory, settings);
  }

  private static InstanceDirectory open(Path path) throws IOException {
    try {
      return InstanceDirectory.open(path, Standalone::newInstanceId);
    } catch (StartException e) {
      throw new CommandFailure(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    }
  }

  /** The file of the distribution and that of the directory, which is stronger. */
  private List<Path> settingsFiles(InstanceDirectory directory) {
    List<Path> files = new ArrayList<>();
    Path home = context.home();
    if (home != null) {
      files.add(home.resolve("conf").resolve("stele.properties"));
    }
    files.add(directory.settingsFile());
    return files;
  }

  /** What the options set: both ports follow {@code --port}, and {@code --set} is the strongest. */
  static Map<String, String> options(@Nullable Integer port, @Nullable Map<String, String> set) {
    Map<String, String> options = new LinkedHashMap<>();
    if (port != null) {
      int zookeeperPort = port == 0 ? 0 : port + 1;
      options.put(StandardSettings.RPC_PORT.name(), Integer.toString(port));
      options.put(StandardSettings.ZOOKEEPER_PORT.name(), Integer.toString(zookeeperPort));
    }
    if (set != null) {
      options.putAll(set);
    }
    return options;
  }
}
