package org.stele.client.instance;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** This JVM plays the server: its pid, its start time, and the lock file it has open. */
class ServerProcessTest {
  private static final long SELF = ProcessHandle.current().pid();

  @TempDir Path directory;

  @Test
  void withoutPidFileNothingRuns() throws IOException {
    assertEquals(Optional.empty(), ServerProcess.find(directory));
  }

  @Test
  void processThatHoldsTheLockIsTheServer() throws IOException {
    writePid(Long.toString(SELF));
    try (FileChannel lock = openLock()) {
      assertEquals(Optional.of(new ServerProcess(SELF, null)), ServerProcess.find(directory));
      ServerStatusFile status = status(SELF, ProcessStat.of(SELF).startTicks());
      status.write(directory);
      assertEquals(Optional.of(new ServerProcess(SELF, status)), ServerProcess.find(directory));
      assertTrue(ServerProcess.find(directory).orElseThrow().isAlive());
      assertTrue(lock.isOpen());
    }
  }

  @Test
  void reusedPidIsNotTheServer() throws IOException {
    writePid(Long.toString(SELF));
    Files.createFile(directory.resolve(ServerProcess.LOCK_FILE));
    assertEquals(Optional.empty(), ServerProcess.find(directory));
  }

  @Test
  void pidWithAnotherStartTimeIsNotTheServer() throws IOException {
    writePid(Long.toString(SELF));
    status(SELF, ProcessStat.of(SELF).startTicks() - 5).write(directory);
    try (FileChannel lock = openLock()) {
      assertEquals(Optional.empty(), ServerProcess.find(directory));
      assertTrue(lock.isOpen());
    }
  }

  @Test
  void statusOfAnEarlierProcessIsIgnored() throws IOException {
    writePid(Long.toString(SELF));
    status(SELF + 1, 17).write(directory);
    try (FileChannel lock = openLock()) {
      assertEquals(Optional.of(new ServerProcess(SELF, null)), ServerProcess.find(directory));
      assertTrue(lock.isOpen());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc", "0", "-1", "99999999999999999999", "12 13", "4194305"})
  void pidFileOfNobodyBlocksNothing(String text) throws IOException {
    writePid(text);
    try (FileChannel lock = openLock()) {
      assertEquals(Optional.empty(), ServerProcess.find(directory));
      assertTrue(lock.isOpen());
    }
  }

  @Test
  void endedProcessIsNotTheServer() throws Exception {
    Process child = new ProcessBuilder("true").start();
    child.waitFor();
    writePid(Long.toString(child.pid()));
    assertEquals(Optional.empty(), ServerProcess.find(directory));
    assertFalse(new ServerProcess(child.pid(), null).isAlive());
  }

  @Test
  void statusFileKeepsEverythingAndIsPrivate() throws IOException {
    assertNull(ServerStatusFile.read(directory));
    ServerStatusFile status =
        new ServerStatusFile(1, 2, "h:3", "z:4/stele", "h:5", "0.1.0", "abc", "id");
    status.write(directory);
    assertEquals(status, ServerStatusFile.read(directory));
    assertEquals(
        PosixFilePermissions.fromString("rw-------"),
        Files.getPosixFilePermissions(directory.resolve(ServerStatusFile.NAME)));
    status(7, 8).write(directory);
    assertEquals(status(7, 8), ServerStatusFile.read(directory));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{\"pid\":1", "{\"pid\":\"x\"}", "{}", "\0\0\0", "\u00ff"})
  void statusFileThatCannotBeUnderstoodCountsAsNone(String text) throws IOException {
    Files.writeString(directory.resolve(ServerStatusFile.NAME), text, ISO_8859_1);
    assertNull(ServerStatusFile.read(directory));
    writePid(Long.toString(SELF));
    try (FileChannel lock = openLock()) {
      assertEquals(Optional.of(new ServerProcess(SELF, null)), ServerProcess.find(directory));
      assertTrue(lock.isOpen());
    }
  }

  @Test
  void readsProcessStatWithAnyName() {
    String fields =
        "S 1 2 3 4 5 6 7 8 9 10 1234 567 13 14 15 16 17 18 987654 20 21 22 23 24 25 26 27";
    for (String name : new String[] {"java", "a b", "x) S (y", ")"}) {
      ProcessStat stat = ProcessStat.parse("42 (" + name + ") " + fields + "\n");
      assertEquals(new ProcessStat('S', 1234, 567, 987654), stat);
    }
  }

  @Test
  void readsItsOwnStat() {
    ProcessStat stat = ProcessStat.of(SELF);
    assertTrue(stat.userTicks() > 0 && stat.startTicks() > 0, stat::toString);
    assertNull(ProcessStat.of(1L << 40));
  }

  private void writePid(String text) throws IOException {
    Files.writeString(directory.resolve(ServerProcess.PID_FILE), text + "\n");
  }

  private FileChannel openLock() throws IOException {
    return FileChannel.open(
        directory.resolve(ServerProcess.LOCK_FILE),
        StandardOpenOption.CREATE,
        StandardOpenOption.WRITE);
  }

  private static ServerStatusFile status(long pid, long startTicks) {
    return new ServerStatusFile(
        pid, startTicks, "127.0.0.1:1", "127.0.0.1:2", null, "0.1.0", "s", "i");
  }
}
