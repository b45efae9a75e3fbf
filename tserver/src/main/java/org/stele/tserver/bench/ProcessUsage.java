package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.client.instance.ProcessStat;

/**
 * What the kernel has counted for a process up to a moment: processor time of all its threads, and
 * context switches of those that are there.
 *
 * @param selectorMicros processor time of an endpoint's selector threads, user and system
 * @param switches by thread: voluntary and involuntary
 */
record ProcessUsage(
    long userMicros, long systemMicros, long selectorMicros, Map<String, Switches> switches) {
  /** How the names of those threads begin. */
  private static final String SELECTOR = "rpc-select-";

  private static final long MICROS_PER_TICK = 1_000_000 / ProcessStat.TICKS_PER_SECOND;
  private static final Path PROC = Path.of("/proc");

  /** Context switches of a thread. */
  record Switches(long voluntary, long involuntary) {
    static final Switches NONE = new Switches(0, 0);
  }

  /** What a process used between two moments. */
  record Difference(
      long userMicros, long systemMicros, long selectorMicros, long voluntary, long involuntary) {}

  /** Of a process now; null if it is not known (no pid, no such process, no /proc). */
  static @Nullable ProcessUsage of(@Nullable Long pid) {
    return pid == null ? null : of(PROC, pid);
  }

  static @Nullable ProcessUsage of(Path proc, long pid) {
    Path directory = proc.resolve(Long.toString(pid));
    Map<String, Switches> switches = new HashMap<>();
    long selectorMicros = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(directory.resolve("task"))) {
      ProcessStat stat = ProcessStat.parse(Files.readString(directory.resolve("stat"), ISO_8859_1));
      for (Path thread : threads) {
        Switches counted = readSwitches(thread.resolve("status"));
        if (counted != null) {
          switches.put(thread.getFileName().toString(), counted);
        }
        selectorMicros += readSelectorMicros(thread.resolve("stat"));
      }
      return new ProcessUsage(
          stat.userTicks() * MICROS_PER_TICK,
          stat.systemTicks() * MICROS_PER_TICK,
          selectorMicros,
          switches);
    } catch (IOException e) {
      return null;
    }
  }

  /** What was used since an earlier moment; the switches of threads that ended are not seen. */
  Difference since(ProcessUsage earlier) {
    long voluntary = 0;
    long involuntary = 0;
    for (Map.Entry<String, Switches> thread : switches.entrySet()) {
      Switches before = earlier.switches.getOrDefault(thread.getKey(), Switches.NONE);
      voluntary += thread.getValue().voluntary() - before.voluntary();
      involuntary += thread.getValue().involuntary() - before.involuntary();
    }
    return new Difference(
        userMicros - earlier.userMicros,
        systemMicros - earlier.systemMicros,
        selectorMicros - earlier.selectorMicros,
        voluntary,
        involuntary);
  }

  /** Of one thread; null if it ended meanwhile. */
  private static @Nullable Switches readSwitches(Path status) {
    try {
      return parseSwitches(Files.readString(status, ISO_8859_1));
    } catch (IOException e) {
      return null;
    }
  }

  /** Of one thread; 0 if it is no selector thread or ended meanwhile. */
  private static long readSelectorMicros(Path stat) {
    try {
      String text = Files.readString(stat, ISO_8859_1);
      if (!text.startsWith(SELECTOR, text.indexOf('(') + 1)) {
        return 0;
      }
      ProcessStat times = ProcessStat.parse(text);
      return (times.userTicks() + times.systemTicks()) * MICROS_PER_TICK;
    } catch (IOException e) {
      return 0;
    }
  }

  static Switches parseSwitches(String status) {
    return new Switches(
        field(status, "voluntary_ctxt_switches"), field(status, "nonvoluntary_ctxt_switches"));
  }

  private static long field(String status, String name) {
    return status
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1).strip()))
        .findFirst()
        .orElse(0);
  }
}
