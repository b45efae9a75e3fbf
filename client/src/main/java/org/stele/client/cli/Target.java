package org.stele.client.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.stele.client.instance.ServerProcess;
import org.stele.client.instance.ServerStatusFile;

/**
 * The instance a command works on: ZooKeeper servers or a standalone instance's directory. The
 * first of these that is there: the options, {@code STELE_CONNECT}, {@code STELE_DIR}, the default
 * directory {@code data} of the unpacked distribution.
 *
 * @param connect ZooKeeper's connect string, or null
 * @param directory a standalone instance, or null; exactly one of the two is there
 */
public record Target(@Nullable String connect, @Nullable Path directory) {
  static Target of(
      @Nullable String connectOption,
      @Nullable Path directoryOption,
      Map<String, String> environment,
      @Nullable Path home) {
    if (connectOption != null) {
      return new Target(connectOption, null);
    }
    String connect = environment.getOrDefault("STELE_CONNECT", "");
    if (directoryOption == null && !connect.isEmpty()) {
      return new Target(connect, null);
    }
    return new Target(null, directory(directoryOption, environment, home));
  }

  /** The directory of an instance, whatever {@code STELE_CONNECT} says. */
  static Path directory(
      @Nullable Path option, Map<String, String> environment, @Nullable Path home) {
    if (option != null) {
      return option.toAbsolutePath().normalize();
    }
    String variable = environment.getOrDefault("STELE_DIR", "");
    if (!variable.isEmpty()) {
      return Path.of(variable).toAbsolutePath().normalize();
    }
    if (home != null) {
      return home.resolve("data");
    }
    throw new CommandFailure(
        "no instance is named: give --connect HOST:PORT or --dir DIR, or set STELE_CONNECT or"
            + " STELE_DIR");
  }

  /**
   * The connect string of a client.
   *
   * @throws CommandFailure if it is a directory in which no server is ready
   */
  String connectString() throws IOException {
    if (connect != null) {
      return connect;
    }
    Path instance = Objects.requireNonNull(directory);
    ServerProcess server =
        ServerProcess.find(instance)
            .orElseThrow(
                () ->
                    new CommandFailure(
                        "no server runs in " + instance + ": 'stele start' starts one"));
    ServerStatusFile status = server.status();
    if (status == null) {
      throw new CommandFailure(
          "the server in " + instance + " (pid " + server.pid() + ") is not ready yet");
    }
    return status.zookeeper();
  }
}
