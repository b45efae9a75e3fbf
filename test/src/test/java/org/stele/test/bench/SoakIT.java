package org.stele.test.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.json.Json;
import org.stele.test.check.TestForm;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;

/**
 * {@code stele bench soak}: whatever connections do, healthy calls are answered, and nothing stays
 * of the others.
 */
class SoakIT {
  private static final int SECONDS = TestForm.count(8, 900);
  private static final Duration LIMIT = Duration.ofSeconds(SECONDS).plusMinutes(5);
  private static final List<String> EVENTS =
      List.of("call", "timeout", "connect", "cut", "reset", "half_close", "silent", "junk");

  @TempDir private Path directory;

  @Test
  void nothingStays() throws Exception {
    CommandResult result = soak("--seconds=" + SECONDS, "--callers=4", "--temp=" + directory);
    List<String> lines = result.orFail().lines();
    assertEquals(1, lines.size(), lines::toString);
    Map<String, Object> soak = Json.parseObject(lines.get(0));
    Map<?, ?> events = (Map<?, ?>) soak.get("events");
    assertEquals(EVENTS, List.copyOf(events.keySet()));
    for (String event : EVENTS) {
      assertTrue((Long) events.get(event) > 0, () -> event + " of " + events);
    }
    List<Object> names = new ArrayList<>();
    for (Object element : (List<?>) soak.get("gauges")) {
      Map<?, ?> gauge = (Map<?, ?>) element;
      names.add(gauge.get("gauge"));
      assertTrue(
          (Long) gauge.get("end") <= (Long) gauge.get("base") + (Long) gauge.get("slack"),
          gauge::toString);
    }
    assertTrue(
        names.containsAll(List.of("descriptors", "threads", "rpc.connections")), names::toString);
    assertEquals(256L, soak.get("fresh_connections"));
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(List.of(), left.toList(), "the server's directory is removed");
    }
  }

  @Test
  void connectionsThatAreRefusedAreTold() {
    CommandResult result =
        soak(
            "--seconds=2",
            "--callers=1",
            "--temp=" + directory,
            "--server-setting=rpc.connections=20");
    assertEquals(1, result.exitCode(), result::toString);
    assertEquals(1, result.err().lines().count(), result::toString);
  }

  private CommandResult soak(String... options) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(Installation.shared().script().toString(), "--json", "bench", "soak"));
    command.addAll(Arrays.asList(options));
    return Commands.run(directory, Map.of("STELE_CONNECT", ""), new byte[0], LIMIT, command);
  }
}
