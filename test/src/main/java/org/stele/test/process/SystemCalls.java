package org.stele.test.process;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.stele.test.check.Conditions;

/**
 * The system calls of a running process, all its threads, as {@code strace} sees them from {@link
 * #attach} to {@link #detach}. Descriptors are shown with what they lead to.
 */
public final class SystemCalls implements AutoCloseable {
  private static final Path STRACE = Path.of("/usr/bin/strace");
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final Process strace;
  private final Path output;

  private SystemCalls(Process strace, Path output) {
    this.strace = strace;
    this.output = output;
  }

  /** Whether this machine has strace. */
  public static boolean canBeSeen() {
    return Files.isExecutable(STRACE);
  }

  /**
   * Begins to look at a process; returns when each of its threads is looked at.
   *
   * @param textBytes of each text in the calls' arguments that are kept
   * @param names of the calls of interest
   * @param output file for what is seen
   */
  public static SystemCalls attach(long pid, int textBytes, List<String> names, Path output) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(STRACE.toString(), "-f", "-y", "-s", Integer.toString(textBytes)));
    command.addAll(List.of("-e", "trace=" + String.join(",", names)));
    command.addAll(List.of("-o", output.toString(), "-p", Long.toString(pid)));
    SystemCalls calls;
    try {
      calls =
          new SystemCalls(
              new ProcessBuilder(command)
                  .redirectErrorStream(true)
                  .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                  .start(),
              output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try {
      Path tasks = Path.of("/proc", Long.toString(pid), "task");
      Conditions.await("strace is attached to all threads", LIMIT, () -> areAllTraced(tasks));
      return calls;
    } catch (AssertionError | RuntimeException e) {
      calls.close();
      throw e;
    }
  }

  private static boolean areAllTraced(Path tasks) throws IOException {
    try (Stream<Path> each = Files.list(tasks)) {
      return each.allMatch(SystemCalls::isTraced);
    }
  }

  private static boolean isTraced(Path task) {
    try {
      return Files.readString(task.resolve("status"))
          .lines()
          .anyMatch(line -> line.startsWith("TracerPid:") && !line.endsWith("\t0"));
    } catch (IOException e) {
      return true; // the thread has ended meanwhile
    }
  }

  /** Ends looking; the process goes on. Returns the calls that were seen, a line each. */
  public List<String> detach() {
    close();
    try {
      return Files.readAllLines(output, ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    strace.destroy();
    try {
      if (!strace.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        strace.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while strace ended", e);
    }
  }
}
