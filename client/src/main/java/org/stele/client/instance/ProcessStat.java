package org.stele.client.instance;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.MalformedBytesException;

/**
 * Some of the fields of {@code /proc/PID/stat}. Ticks are hundredths of a second ({@code USER_HZ},
 * which is 100 on every Linux that a JVM runs on).
 *
 * @param userTicks processor time in user mode, all threads
 * @param systemTicks processor time in the kernel, all threads
 * @param startTicks when the process began, counted from the boot of the machine
 */
public record ProcessStat(char state, long userTicks, long systemTicks, long startTicks) {
  public static final int TICKS_PER_SECOND = 100;

  private static final Path PROC = Path.of("/proc");

  /** Of this machine's process {@code pid}; null if there is no such process, or no /proc. */
  public static @Nullable ProcessStat of(long pid) {
    return of(PROC, pid);
  }

  static @Nullable ProcessStat of(Path proc, long pid) {
    try {
      // The name of a process may hold any bytes.
      return parse(Files.readString(proc.resolve(pid + "/stat"), ISO_8859_1));
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Reads a stat file. The fields come after the name, which stands in parentheses and may contain
   * blanks and more.
   */
  public static ProcessStat parse(String stat) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
    if (fields.length < 20) {
      throw new MalformedBytesException("not the stat file of a process: " + stat);
    }
    return new ProcessStat(
        fields[0].charAt(0),
        Long.parseLong(fields[11]),
        Long.parseLong(fields[12]),
        Long.parseLong(fields[19]));
  }

  /** The process has ended and its parent has not asked for its exit code yet. */
  boolean isZombie() {
    return state == 'Z' || state == 'X';
  }
}
