package org.stele.test.process;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.stele.test.check.Conditions;

/**
 * Fails a test class that leaves a process running, and ends the process. It finds them by a
 * variable of the environment that the build gives to this JVM, and that whatever is started from
 * here inherits, also what has left its caller as a server in the background does.
 */
public final class NothingLeftRunning implements AfterAllCallback {
  private static final String VARIABLE = "STELE_TEST_FORK";

  /** For processes that were told to end. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @Override
  public void afterAll(ExtensionContext context) {
    String fork = System.getenv(VARIABLE);
    if (fork != null) {
      check(VARIABLE + "=" + fork, PATIENCE);
    }
  }

  /**
   * @param mark an entry of the environment of those that must have ended
   */
  static void check(String mark, Duration patience) {
    try {
      Conditions.await("no process is left", patience, () -> running(mark).isEmpty());
    } catch (AssertionError e) {
      SortedMap<Long, String> left = running(mark);
      left.keySet().forEach(StandaloneServer::kill9);
      throw new AssertionError("left running, and ended now: " + left, e);
    }
  }

  /** Command lines by process id, without this process and those that it descends from. */
  private static SortedMap<Long, String> running(String mark) {
    SortedMap<Long, String> found = new TreeMap<>();
    Set<Long> own =
        Stream.iterate(
                Optional.of(ProcessHandle.current()), Optional::isPresent, p -> p.get().parent())
            .map(p -> p.get().pid())
            .collect(Collectors.toSet());
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      for (Path process : all.toList()) {
        String name = process.getFileName().toString();
        if (name.chars().allMatch(Character::isDigit)
            && !own.contains(Long.valueOf(name))
            && entries(process.resolve("environ")).contains(mark)) {
          found.put(Long.valueOf(name), String.join(" ", entries(process.resolve("cmdline"))));
        }
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** None if the process has ended, or is somebody else's. */
  private static List<String> entries(Path file) {
    try {
      return List.of(Files.readString(file, ISO_8859_1).split("\0"));
    } catch (IOException e) {
      return List.of();
    }
  }
}
