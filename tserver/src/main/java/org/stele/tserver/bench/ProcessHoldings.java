package org.stele.tserver.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a process holds at a moment, as the kernel says.
 *
 * @param threads without those of the virtual machine itself, which compile and collect garbage and
 *     come and go as it likes
 */
record ProcessHoldings(long residentKib, long threads, long descriptors) {
  private static final Path PROC = Path.of("/proc");

  /** How the names of the virtual machine's threads begin. */
  private static final List<String> VIRTUAL_MACHINE =
      List.of("C1 Comp", "C2 Comp", "GC Thread", "G1 ", "VM ", "Attach ");

  /** Of a process now; null if it is not known (no pid, no such process, no /proc). */
  static @Nullable ProcessHoldings of(@Nullable Long pid) {
    return pid == null ? null : of(PROC, pid);
  }

  static @Nullable ProcessHoldings of(Path proc, long pid) {
    Path directory = proc.resolve(Long.toString(pid));
    try {
      return new ProcessHoldings(
          residentKib(Files.readString(directory.resolve("status"), ISO_8859_1)),
          threads(directory.resolve("task")),
          descriptors(directory.resolve("fd")));
    } catch (IOException | UncheckedIOException e) {
      return null;
    }
  }

  private static long residentKib(String status) {
    return status
        .lines()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElse(0);
  }

  private static long threads(Path tasks) throws IOException {
    try (Stream<Path> threads = Files.list(tasks)) {
      return threads.filter(thread -> isOfTheProgram(thread.resolve("comm"))).count();
    }
  }

  private static boolean isOfTheProgram(Path comm) {
    try {
      String name = Files.readString(comm, ISO_8859_1);
      return VIRTUAL_MACHINE.stream().noneMatch(name::startsWith);
    } catch (IOException e) {
      return false; // it ended meanwhile
    }
  }

  private static long descriptors(Path directory) throws IOException {
    try (Stream<Path> descriptors = Files.list(directory)) {
      return descriptors.count();
    }
  }
}
