package org.stele.client.cli.process;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.stele.core.settings.SettingException;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What a standalone server is told beyond its configuration. */
public final class ServerOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

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
  private @Nullable Map<String, String> settings;

  /**
   * What the options set: both ports follow {@code --port}, and {@code --set} is the strongest.
   *
   * @throws ParameterException if that is not allowed
   */
  public Map<String, String> settings() {
    Map<String, String> all = new LinkedHashMap<>();
    if (port != null) {
      int zookeeperPort = port == 0 ? 0 : port + 1;
      all.put(StandardSettings.RPC_PORT.name(), Integer.toString(port));
      all.put(StandardSettings.ZOOKEEPER_PORT.name(), Integer.toString(zookeeperPort));
    }
    all.putAll(Objects.requireNonNullElse(settings, Map.of()));
    return checked(command, all);
  }

  /** The arguments that tell {@code stele standalone} the same. */
  List<String> toArguments() {
    List<String> arguments = new ArrayList<>();
    settings().forEach((name, value) -> arguments.add("--set=" + name + "=" + value));
    return arguments;
  }

  /**
   * Settings that options of a command give, if they are allowed.
   *
   * @throws ParameterException if not
   */
  public static Map<String, String> checked(CommandSpec command, Map<String, String> settings) {
    try {
      Settings.of(settings);
      return settings;
    } catch (SettingException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }
}
