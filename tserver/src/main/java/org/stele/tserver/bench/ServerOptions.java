package org.stele.tserver.bench;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.core.settings.Settings;
import picocli.CommandLine.Option;

/** What benchmarks are told of the server that is started for them. */
final class ServerOptions {
  @Option(
      names = "--server-setting",
      paramLabel = "NAME=VALUE",
      arity = "1..*",
      description = "Settings of the server that is started for the benchmark.")
  private @Nullable Map<String, String> serverSettings;

  @Option(
      names = "--server-type",
      paramLabel = "T",
      description = "rpc.server.type of the server that is started for the benchmark.")
  private @Nullable String serverType;

  @Option(
      names = "--selectors",
      paramLabel = "N",
      split = ",",
      description = {
        "rpc.selectors of the server that is started for the benchmark. Several numbers: a server of",
        "each (stele-1, stele-2), measured in turn."
      })
  private @Nullable List<Integer> selectors;

  @Option(
      names = "--temp",
      paramLabel = "DIR",
      description = "Where the server's directory is made, and removed (default: the system's).")
  private @Nullable Path temp;

  /** The servers to measure, at least one. */
  List<ServerVariant> variants(CommandContext context) {
    List<ServerVariant> variants = variants();
    for (ServerVariant variant : variants) {
      Settings.of(variant.allSettings()); // which refuses what is not allowed
      if (context.isInstanceNamed() && !variant.allSettings().isEmpty()) {
        throw new IllegalArgumentException(
            "--server-setting, --server-type and --selectors are for a server of the benchmark's own,"
                + " not for one that runs already");
      }
    }
    return variants;
  }

  private List<ServerVariant> variants() {
    if (selectors == null || selectors.isEmpty()) {
      return List.of(variant(ServerVariant.STELE, null));
    }
    if (new HashSet<>(selectors).size() < selectors.size()) {
      throw new IllegalArgumentException("--selectors " + selectors + ": each number once");
    }
    return selectors.stream()
        .map(
            count ->
                variant(
                    selectors.size() == 1 ? ServerVariant.STELE : ServerVariant.STELE + "-" + count,
                    count))
        .toList();
  }

  /** The server of a benchmark that measures one. */
  ServerVariant variant(CommandContext context) {
    List<ServerVariant> variants = variants(context);
    if (variants.size() > 1) {
      throw new IllegalArgumentException("--selectors " + selectors + ": one number here");
    }
    return variants.get(0);
  }

  private ServerVariant variant(String system, @Nullable Integer selectorCount) {
    return new ServerVariant(
        system, serverType, selectorCount, Objects.requireNonNullElse(serverSettings, Map.of()));
  }

  @Nullable Path temp() {
    return temp;
  }
}
