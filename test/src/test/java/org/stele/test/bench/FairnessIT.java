package org.stele.test.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.json.Json;
import org.stele.test.check.TestForm;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;

/**
 * {@code stele bench fairness}: whoever comes gets a share. In the short form, beside other tests,
 * the bounds are wide.
 */
class FairnessIT {
  private static final boolean LONG = TestForm.LONG;
  private static final Duration LIMIT = Duration.ofMinutes(4);

  @TempDir private Path directory;

  @Test
  void clientsGetTheSame() {
    Map<String, Object> result =
        fairness(
            LONG ? "--clients=18" : "--clients=6",
            LONG ? "--handlers=4" : "--handlers=2",
            LONG ? "--queue=8" : "--queue=2",
            "--service-time=20ms");
    assertTrue(decimal(result, "min_max_ratio") >= (LONG ? 0.8 : 0.5), result::toString);
    assertTrue(decimal(result, "jain") >= (LONG ? 0.98 : 0.9), result::toString);
    assertTrue((Long) result.get("BUSY") > 0, result::toString);
    assertEquals(0L, result.get("failures"), result::toString);
    assertEquals(0L, result.get("ran_late"), result::toString);
  }

  @Test
  void lightTenantIsServedBesideTheHeavyOne() {
    Map<String, Object> result =
        fairness("--tenants=heavy:64,light:1", "--handlers=4", "--queue=32", "--service-time=5ms");
    Map<?, ?> light = (Map<?, ?>) ((List<?>) result.get("tenants")).get(1);
    assertEquals("light", light.get("tenant"));
    assertEquals(0L, light.get("BUSY"), "it never has more than its share of the queue");
    assertEquals(0L, light.get("failures"), result::toString);
    double ratio = (Double) light.get("p99_ratio");
    assertTrue(ratio <= 3 || !LONG, result::toString);
    assertEquals(0L, result.get("ran_late"), result::toString);
  }

  @Test
  void atTwiceTheCapacityWhatIsDoneIsOfUse() {
    Map<String, Object> result =
        fairness(
            "--clients=2", "--handlers=4", "--queue=64", "--service-time=10ms", "--open-loop=2");
    assertTrue(decimal(result, "goodput") >= (LONG ? 0.9 : 0.5), result::toString);
    assertEquals(0L, result.get("ran_late"), result::toString);
    assertTrue((Long) result.get("BUSY") > 0, result::toString);
  }

  private Map<String, Object> fairness(String... options) {
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(Installation.shared().script().toString(), "--json", "bench", "fairness"));
    command.add(LONG ? "--seconds=10" : "--seconds=3");
    command.addAll(Arrays.asList(options));
    List<String> lines =
        Commands.run(directory, Map.of(), new byte[0], LIMIT, command).orFail().lines();
    assertEquals(1, lines.size(), lines::toString);
    return Json.parseObject(lines.get(0));
  }

  private static double decimal(Map<String, Object> object, String key) {
    return ((Number) object.get(key)).doubleValue();
  }
}
