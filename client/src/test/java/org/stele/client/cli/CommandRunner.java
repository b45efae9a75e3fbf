package org.stele.client.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.stele.core.time.Clock;

/** Runs commands of this module against a {@link FakeInstance} and keeps what they print. */
final class CommandRunner {
  final FakeInstance instance = new FakeInstance();
  final Map<String, String> environment = new HashMap<>(Map.of("STELE_CONNECT", "zk:1"));
  byte[] input = new byte[0];
  @Nullable Path home;
  @Nullable OutputStream output;
  String out = "";
  String err = "";

  int run(String... arguments) {
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    CommandContext.Surroundings surroundings =
        new CommandContext.Surroundings(
            new ByteArrayInputStream(input),
            output == null ? outBytes : output,
            new PrintStream(errBytes, true, UTF_8),
            environment,
            home,
            false,
            Clock.system(),
            instance);
    List<CommandProvider> providers =
        ServiceLoader.load(CommandProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList();
    int exitCode = new Main(surroundings, providers).run(arguments);
    out = outBytes.toString(UTF_8);
    err = errBytes.toString(UTF_8);
    return exitCode;
  }

  List<String> outLines() {
    return out.lines().toList();
  }
}
