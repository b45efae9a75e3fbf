package org.stele.tserver.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.tserver.bench.ProcessUsage.Switches;

class ProcessUsageTest {
  @TempDir Path proc;

  @Test
  void addsUpProcessorTimeAndSwitchesOfThreads() throws IOException {
    stat(7, 100, 50);
    thread(7, 7, 10, 1);
    thread(7, 8, 20, 2);
    thread(7, 9, 1000, 1000);
    threadStat(7, 7, "java", 70, 70);
    threadStat(7, 8, "rpc-select-0", 10, 20);
    threadStat(7, 9, "rpc-worker-9", 60, 60);
    ProcessUsage before = ProcessUsage.of(proc, 7);
    stat(7, 103, 51);
    thread(7, 7, 15, 1);
    thread(7, 8, 20, 4);
    thread(7, 10, 3, 3);
    threadStat(7, 7, "java", 99, 99);
    threadStat(7, 8, "rpc-select-0", 12, 21);
    threadStat(7, 10, "rpc-select-1", 1, 1);
    Files.delete(proc.resolve("7/task/9/status"));
    Files.delete(proc.resolve("7/task/9/stat"));
    Files.delete(proc.resolve("7/task/9"));
    assertEquals(
        new ProcessUsage.Difference(30_000, 10_000, 50_000, 8, 5),
        ProcessUsage.of(proc, 7).since(before));
  }

  @Test
  void unknownProcessHasNoUsage() {
    assertNull(ProcessUsage.of(null));
    assertNull(ProcessUsage.of(proc, 7));
  }

  @Test
  void readsSwitchesFromStatus() {
    String status =
        "Name:\tvoluntary_ctxt_switches:\t5\nThreads:\t3\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t345\n";
    assertEquals(new Switches(12, 345), ProcessUsage.parseSwitches(status));
  }

  @Test
  void seesThisProcess() {
    ProcessUsage usage = ProcessUsage.of(ProcessHandle.current().pid());
    assertTrue(usage.userMicros() > 0 && usage.switches().size() > 1, usage::toString);
  }

  private void stat(long pid, long user, long system) throws IOException {
    Files.createDirectories(proc.resolve(pid + "/task"));
    Files.writeString(
        proc.resolve(pid + "/stat"),
        pid + " (java) S 1 2 3 4 5 6 7 8 9 10 " + user + " " + system + " 0 0 20 0 9 0 1234 0 0");
  }

  private void threadStat(long pid, long thread, String name, long user, long system)
      throws IOException {
    Files.writeString(
        proc.resolve(pid + "/task/" + thread + "/stat"),
        thread
            + " ("
            + name
            + ") S 1 2 3 4 5 6 7 8 9 10 "
            + user
            + " "
            + system
            + " 0 0 20 0 9 0 1234 0 0");
  }

  private void thread(long pid, long thread, long voluntary, long involuntary) throws IOException {
    Path folder = Files.createDirectories(proc.resolve(pid + "/task/" + thread));
    Files.writeString(
        folder.resolve("status"),
        "Name:\tx\nvoluntary_ctxt_switches:\t"
            + voluntary
            + "\nnonvoluntary_ctxt_switches:\t"
            + involuntary
            + "\n");
  }
}
