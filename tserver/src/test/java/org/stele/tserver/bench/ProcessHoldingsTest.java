package org.stele.tserver.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessHoldingsTest {
  @TempDir Path proc;

  @Test
  void countsWhatIsTheProgramsOwn() throws IOException {
    write("7/status", "Name:\tjava\nVmRSS:\t  123456 kB\nThreads:\t5\n");
    write("7/task/7/comm", "java\n");
    write("7/task/8/comm", "rpc-select-0\n");
    write("7/task/9/comm", "C2 CompilerThre\n");
    write("7/task/10/comm", "G1 Conc#0\n");
    write("7/task/11/comm", "Attach Listener\n");
    Files.createDirectories(proc.resolve("7/task/12")); // it ended meanwhile
    write("7/fd/0", "");
    write("7/fd/1", "");
    write("7/fd/17", "");
    assertEquals(new ProcessHoldings(123_456, 2, 3), ProcessHoldings.of(proc, 7));
  }

  @Test
  void knowsNothingOfAProcessThatIsGone() {
    assertNull(ProcessHoldings.of(proc, 8));
    assertNull(ProcessHoldings.of(null));
  }

  private void write(String name, String text) throws IOException {
    Path file = proc.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
