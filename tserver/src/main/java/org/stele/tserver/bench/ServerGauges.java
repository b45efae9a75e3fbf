package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * What a server process holds at a moment: by the kernel, by its own counters, and its heap.
 *
 * @param connections that it has open, with those of whoever asks
 * @param bufferedBytes of frames and replies
 */
record ServerGauges(int descriptors, int threads, long connections, long bufferedBytes) {
  private static final Pattern HEAP_USED = Pattern.compile("total \\d+K, used (\\d+)K");

  static ServerGauges of(long pid, Map<String, Long> counters) {
    Path proc = Path.of("/proc", Long.toString(pid));
    return new ServerGauges(
        entries(proc.resolve("fd")),
        entries(proc.resolve("task")),
        counters.getOrDefault("rpc.connections", 0L),
        counters.getOrDefault("rpc.read.bytes", 0L) + counters.getOrDefault("rpc.reply.bytes", 0L));
  }

  private static int entries(Path directory) {
    try (Stream<Path> all = Files.list(directory)) {
      return (int) all.count();
    } catch (IOException e) {
      throw new CommandFailure("the server is gone: " + e.getMessage(), e);
    }
  }

  /** KiB of the heap in use after a collection; null if this Java has no jcmd. */
  static @Nullable Long heapKib(long pid) throws IOException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (!Files.isExecutable(jcmd)) {
      return null;
    }
    output(jcmd, pid, "GC.run");
    Matcher used = HEAP_USED.matcher(output(jcmd, pid, "GC.heap_info"));
    long all = 0;
    while (used.find()) {
      all += Long.parseLong(used.group(1));
    }
    return all == 0 ? null : all;
  }

  private static String output(Path jcmd, long pid, String command) throws IOException {
    List<String> line = new ArrayList<>(List.of(jcmd.toString(), Long.toString(pid), command));
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    try (InputStream said = process.getInputStream()) {
      process.getOutputStream().close();
      return new String(said.readAllBytes(), ISO_8859_1);
    }
  }

  Map<String, @Nullable Object> toJson() {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("descriptors", (long) descriptors);
    object.put("threads", (long) threads);
    object.put("connections", connections);
    object.put("buffered_bytes", bufferedBytes);
    return object;
  }
}
