package org.stele.test.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What the kernel says a process holds. */
public record ProcessGauges(long residentKib, int threads, int descriptors) {
  public static ProcessGauges of(long pid) {
    Path proc = Path.of("/proc", Long.toString(pid));
    try (Stream<Path> descriptors = Files.list(proc.resolve("fd"))) {
      long resident = 0;
      int threads = 0;
      for (String line : Files.readAllLines(proc.resolve("status"))) {
        if (line.startsWith("VmRSS:")) {
          resident = number(line);
        } else if (line.startsWith("Threads:")) {
          threads = (int) number(line);
        }
      }
      return new ProcessGauges(resident, threads, (int) descriptors.count());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Names of a process's threads; the kernel keeps the first 15 bytes of each. */
  public static List<String> threadNames(long pid) {
    List<String> names = new ArrayList<>();
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path task : tasks.toList()) {
        names.add(threadName(task));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return names;
  }

  private static String threadName(Path task) throws IOException {
    try {
      return Files.readString(task.resolve("comm")).strip();
    } catch (NoSuchFileException e) {
      return "(ended)";
    }
  }

  private static long number(String line) {
    return Long.parseLong(line.replaceAll("\\D", ""));
  }

  /** Connections of a local TCP port in a state of /proc/net/tcp, such as 08 for CLOSE_WAIT. */
  public static long connections(int port, String state) {
    String suffix = ":" + String.format("%04X", port);
    try (Stream<String> four = Files.lines(Path.of("/proc/net/tcp"));
        Stream<String> six = Files.lines(Path.of("/proc/net/tcp6"))) {
      return Stream.concat(four, six)
          .map(line -> line.trim().split("\\s+"))
          .filter(
              fields -> fields.length > 3 && fields[1].endsWith(suffix) && fields[3].equals(state))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
