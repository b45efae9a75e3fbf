package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * The heap of another Java process after a full collection, by {@code jcmd}, which not every Java
 * has.
 */
final class LiveHeap {
  private LiveHeap() {}

  /** Bytes of all objects that can be reached; null if it cannot be known. */
  static @Nullable Long bytes(long pid) {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (!Files.isExecutable(jcmd)) {
      return null;
    }
    try {
      Process process =
          new ProcessBuilder(jcmd.toString(), Long.toString(pid), "GC.class_histogram")
              .redirectInput(new File("/dev/null"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String text = new String(process.getInputStream().readAllBytes(), UTF_8);
      return process.waitFor() == 0 ? total(text) : null;
    } catch (IOException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
  }

  /** From the last line of a histogram: {@code Total INSTANCES BYTES}. */
  static @Nullable Long total(String histogram) {
    return histogram
        .lines()
        .filter(line -> line.startsWith("Total"))
        .map(line -> Long.valueOf(line.trim().split("\\s+")[2]))
        .findFirst()
        .orElse(null);
  }
}
