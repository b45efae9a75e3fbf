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
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;

/** {@code stele bench rpc} and {@code bench lookups} measure what they say, in turn. */
class RpcBenchIT {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final List<String> SYSTEMS =
      List.of("stele", "libthrift-1", "libthrift-2", "thsha");

  @TempDir private Path directory;

  @Test
  void waitingCallersInTurnWithLibthrift() throws Exception {
    List<Map<String, Object>> levels =
        levels(
            bench(
                "rpc",
                "--threads=1,4",
                "--baseline=libthrift",
                "--server-type=custom_hs_ha",
                "--selectors=1"));
    assertEquals(
        Stream.concat(SYSTEMS.stream(), SYSTEMS.stream()).toList(), values(levels, "system"));
    assertEquals(List.of(1L, 1L, 1L, 1L, 4L, 4L, 4L, 4L), values(levels, "threads"));
    assertEquals("custom_hs_ha", levels.get(0).get("server_type"));
    levels.forEach(RpcBenchIT::checkMeasured);
    assertNothingLeft();
  }

  @Test
  void callsThatAreNotWaitedFor() throws Exception {
    List<Map<String, Object>> levels =
        levels(
            bench(
                "rpc", "--mode=async", "--in-flight=5", "--selectors=2,1", "--baseline=libthrift"));
    assertEquals(
        List.of("stele-2", "stele-1", "libthrift-1", "libthrift-2", "thsha"),
        values(levels, "system"));
    assertEquals(List.of(5L, 5L, 5L, 5L, 5L), values(levels, "threads"));
    assertEquals(Arrays.asList(2L, 1L, null, null, null), values(levels, "selectors"));
    levels.forEach(RpcBenchIT::checkMeasured);
    assertNothingLeft();
  }

  @Test
  void besideOtherConnectionsAndJunk() throws Exception {
    List<Map<String, Object>> levels =
        levels(bench("rpc", "--threads=1,4", "--idle-connections=60", "--junk", "--rounds=2"));
    assertEquals(
        List.of("stele", "stele-crowded"), values(levels, "system").stream().distinct().toList());
    assertEquals(8, levels.size(), levels::toString);
    levels.forEach(RpcBenchIT::checkMeasured);
    for (Map<String, Object> level : levels) {
      assertTrue((Long) level.get("resident_kib") > 0, level::toString);
      if (level.get("system").equals("stele-crowded")) {
        assertEquals(60L, level.get("idle_connections"), level::toString);
        assertEquals(0L, level.get("lost_connections"), level::toString);
        assertTrue((Long) level.get("junk_connections") > 0, level::toString);
      }
    }
    assertNothingLeft();
  }

  @Test
  void lookupsInTurnWithTheEmptyCallOfLibthrift() throws Exception {
    List<Map<String, Object>> levels =
        levels(
            bench(
                "lookups", "--rows=500", "--threads=2", "--selectors=2,1", "--baseline=libthrift"));
    assertEquals(
        List.of("stele-2", "stele-1", "libthrift-1", "libthrift-2", "thsha"),
        values(levels, "system"));
    assertEquals(List.of("hit", "hit", "empty", "empty", "empty"), values(levels, "kind"));
    levels.forEach(RpcBenchIT::checkMeasured);
    assertNothingLeft();
  }

  @Test
  void whatIsNotPossibleIsWrongUsage() {
    assertWrongUsage(
        bench("rpc", "--mode=async", "--in-flight=0"), "--in-flight 0: a number from 1");
    assertWrongUsage(bench("lookups", "--server-type=quick"), "rpc.server.type");
    assertWrongUsage(bench("evaluation", "--server-setting=no.such=1"), "no.such");
    assertWrongUsage(bench("rpc", "--selectors=2", "--connect=localhost:1"), "--selectors");
  }

  private static void assertWrongUsage(CommandResult result, String what) {
    assertEquals(2, result.exitCode(), result::toString);
    assertTrue(result.err().startsWith("stele: "), result::toString);
    assertTrue(result.err().contains(what), result::toString);
  }

  private CommandResult bench(String name, String... options) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(Installation.shared().script().toString(), "--json", "bench", name));
    command.addAll(List.of("--seconds=0.5", "--warmup=0", "--temp=" + directory));
    command.addAll(Arrays.asList(options));
    return Commands.run(directory, Map.of("STELE_CONNECT", ""), new byte[0], LIMIT, command);
  }

  private static List<Map<String, Object>> levels(CommandResult result) {
    return result.orFail().lines().stream().map(Json::parseObject).toList();
  }

  private static List<Object> values(List<Map<String, Object>> levels, String key) {
    return levels.stream().map(level -> level.get(key)).toList();
  }

  private static void checkMeasured(Map<String, Object> level) {
    for (String key :
        List.of(
            "ops_per_s",
            "avg_ms",
            "p50_ms",
            "p99_ms",
            "max_ms",
            "server_user_us",
            "server_sys_us",
            "ctx_switches")) {
      assertTrue(level.get(key) instanceof Double, () -> key + " of " + level);
    }
    assertTrue((Double) level.get("ops_per_s") > 0, level::toString);
  }

  /** The servers' directories are removed. */
  private void assertNothingLeft() throws Exception {
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(List.of(), left.toList());
    }
  }
}
