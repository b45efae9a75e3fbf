package org.stele.tserver.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.client.cli.process.ServerOptions;
import org.stele.core.settings.ConfigLoader;
import org.stele.core.settings.Settings;
import org.stele.server.process.InstanceDirectory;
import org.stele.server.process.StartException;
import org.stele.tserver.Standalone;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "standalone",
    description = {
      "Run a tablet server and a ZooKeeper in this process, with everything in one directory.",
      "SIGTERM and Ctrl-C end it in order. 'stele start' does the same in the background."
    })
final class StandaloneCommand implements Callable<Integer> {
  private final CommandContext context;

  @Mixin private ServerOptions server;

  @Option(names = "--background", hidden = true, description = "As 'stele start' runs it.")
  private boolean background;

  StandaloneCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Path path = context.directory();
    Map<String, String> options = server.settings();
    ServerLog.into(path.resolve("logs"), context, background);
    InstanceDirectory directory = open(path);
    Settings settings;
    try {
      settings = ConfigLoader.load(settingsFiles(directory), context.environment(), options);
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
}
