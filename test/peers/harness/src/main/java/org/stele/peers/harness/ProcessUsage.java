package org.stele.peers.harness;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What {@code /proc} says about a set of processes at one moment, or between two moments. */
final class ProcessUsage {
  private static final double TICKS_PER_SECOND = 100.0; // USER_HZ

  private long userTicks;
  private long systemTicks;
  private long contextSwitches;
  private long writtenBytes;
  private long writeCalls;
  private long residentKilobytes;
  private int threads;
  private final Map<String, Long> switchesOfThread = new HashMap<>();

  static ProcessUsage of(List<Long> pids) {
    ProcessUsage usage = new ProcessUsage();
    for (long pid : pids) {
      usage.add(pid);
    }
    return usage;
  }

  static ProcessUsage ofThisProcess() {
    return of(List.of(ProcessHandle.current().pid()));
  }

  /** This minus an earlier moment. The switches of threads that ended in between are lost. */
  ProcessUsage since(ProcessUsage earlier) {
    ProcessUsage difference = new ProcessUsage();
    difference.userTicks = userTicks - earlier.userTicks;
    difference.systemTicks = systemTicks - earlier.systemTicks;
    difference.writtenBytes = writtenBytes - earlier.writtenBytes;
    difference.writeCalls = writeCalls - earlier.writeCalls;
    difference.residentKilobytes = residentKilobytes;
    difference.threads = threads;
    switchesOfThread.forEach(
        (thread, switches) ->
            difference.contextSwitches +=
                switches - earlier.switchesOfThread.getOrDefault(thread, 0L));
    return difference;
  }

  double userSeconds() {
    return userTicks / TICKS_PER_SECOND;
  }

  double systemSeconds() {
    return systemTicks / TICKS_PER_SECOND;
  }

  double seconds() {
    return userSeconds() + systemSeconds();
  }

  /** Voluntary and involuntary together. */
  long contextSwitches() {
    return contextSwitches;
  }

  double writtenMegabytes() {
    return writtenBytes / 1e6;
  }

  long writeCalls() {
    return writeCalls;
  }

  long residentMegabytes() {
    return residentKilobytes / 1024;
  }

  int threads() {
    return threads;
  }

  private void add(long pid) {
    Path process = Path.of("/proc", Long.toString(pid));
    try {
      String stat = Files.readString(process.resolve("stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      userTicks += Long.parseLong(fields[11]);
      systemTicks += Long.parseLong(fields[12]);
      residentKilobytes += field(Files.readString(process.resolve("status")), "VmRSS:");
      String io = Files.readString(process.resolve("io"));
      writtenBytes += field(io, "\nwrite_bytes:");
      writeCalls += field(io, "\nsyscw:");
      addThreads(process);
    } catch (IOException processEnded) {
      // What it used until now is not known any more; the other processes still count.
    }
  }

  private void addThreads(Path process) throws IOException {
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(process.resolve("task"))) {
      for (Path task : tasks) {
        try {
          String status = Files.readString(task.resolve("status"));
          long switches =
              field(status, "\nvoluntary_ctxt_switches:")
                  + field(status, "\nnonvoluntary_ctxt_switches:");
          contextSwitches += switches;
          switchesOfThread.put(task.toString(), switches);
          threads++;
        } catch (IOException threadEnded) {
          // Threads come and go while the directory is read.
        }
      }
    }
  }

  private static long field(String text, String key) {
    int start = text.indexOf(key);
    if (start < 0) {
      return 0;
    }
    start += key.length();
    while (text.charAt(start) == ' ' || text.charAt(start) == '\t') {
      start++;
    }
    int end = start;
    while (end < text.length() && Character.isDigit(text.charAt(end))) {
      end++;
    }
    return Long.parseLong(text.substring(start, end));
  }
}
