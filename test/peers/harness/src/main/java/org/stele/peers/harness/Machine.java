package org.stele.peers.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Counters of the whole machine, to tell a disturbed measurement from a quiet one. */
final class Machine {
  private static long sink;

  private Machine() {}

  /** Processor seconds used by everybody since the start of the machine. */
  static double busySeconds() throws IOException {
    String[] fields = Files.readAllLines(Path.of("/proc/stat")).get(0).trim().split("\\s+");
    long busy = 0;
    for (int i = 1; i < fields.length && i <= 8; i++) {
      boolean idleOrWaiting = i == 4 || i == 5;
      if (!idleOrWaiting) {
        busy += Long.parseLong(fields[i]);
      }
    }
    return busy / 100.0;
  }

  /** Flush requests completed by the block devices. */
  static long diskFlushes() throws IOException {
    long flushes = 0;
    for (String line : Files.readAllLines(Path.of("/proc/diskstats"))) {
      String[] fields = line.trim().split("\\s+");
      if (fields.length >= 20 && fields[2].matches("vd[a-z]|sd[a-z]|nvme\\d+n\\d+")) {
        flushes += Long.parseLong(fields[18]);
      }
    }
    return flushes;
  }

  /** Millions of steps per second of a fixed integer loop: shows a slow minute of the machine. */
  static double speed() {
    long x = 88172645463325252L;
    long start = System.nanoTime();
    long end = start + 150_000_000L;
    long steps = 0;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 10_000; i++) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
      }
      steps += 10_000;
    }
    sink += x;
    return steps / ((System.nanoTime() - start) / 1e3);
  }
}
