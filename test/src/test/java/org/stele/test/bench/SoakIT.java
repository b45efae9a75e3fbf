package org.stele.test.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.json.Json;
import org.stele.test.check.TestForm;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;

/** {@code stele bench soak}: whatever clients do, a server holds no more afterwards than before. */
class SoakIT {
  private static final Duration LIMIT =
      TestForm.time(Duration.ofMinutes(4), Duration.ofMinutes(25));

  @TempDir private Path directory;

  @Test
  void nothingRemains() {
    List<String> command =
        List.of(
            Installation.shared().script().toString(),
            "--json",
            "bench",
            "soak",
            TestForm.LONG ? "--seconds=900" : "--seconds=4",
            "--threads=4");
    List<String> lines =
        Commands.run(directory, Map.of(), new byte[0], LIMIT, command).orFail().lines();
    assertEquals(1, lines.size(), lines::toString);
    Map<String, Object> result = Json.parseObject(lines.get(0));
    assertEquals(List.of(), result.get("leaks"), result::toString);
    assertEquals(256L, result.get("fresh_served"), result::toString);
    assertEquals(0L, result.get("failures"), result::toString);
    assertTrue((Long) result.get("connections") > 100, result::toString);
    assertTrue((Long) result.get("lookups") > 100, result::toString);
  }
}
