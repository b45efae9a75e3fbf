package org.stele.client.cli.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a server in the background is told beyond its configuration, as {@code standalone} is. */
final class ServerOptions {
  @Option(
      names = "--port",
      paramLabel = "N",
      description = "Port of the server; ZooKeeper gets the next one. 0 takes free ones.")
  private @Nullable Integer port;

  @Option(
      names = {"-s", "--set"},
      paramLabel = "NAME=VALUE",
      description = "A setting, before all configuration; may be given several times.")
  private @Nullable Map<String, String> settings;

  /** The arguments for {@code stele standalone}. */
  List<String> toArguments() {
    List<String> arguments = new ArrayList<>();
    if (port != null) {
      arguments.add("--port=" + port);
    }
    if (settings != null) {
      settings.forEach((name, value) -> arguments.add("--set=" + name + "=" + value));
    }
    return arguments;
  }
}
