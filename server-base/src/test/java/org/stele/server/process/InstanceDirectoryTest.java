package org.stele.server.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InstanceDirectoryTest {
  @TempDir Path temp;

  @Test
  void makesAndReopens() throws IOException {
    Path directory = temp.resolve("with space/data");
    try (InstanceDirectory first = InstanceDirectory.open(directory, () -> "abc")) {
      assertEquals("abc", first.instanceId());
      assertTrue(Files.isDirectory(first.store()));
    }
    try (InstanceDirectory second = InstanceDirectory.open(directory, () -> "other")) {
      assertEquals("abc", second.instanceId());
    }
  }

  @Test
  void onlyItsOwnerMayReadAnything() throws IOException {
    Path directory = temp.resolve("data");
    Files.createDirectory(
        directory,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    try (InstanceDirectory open = InstanceDirectory.open(directory, () -> "abc")) {
      open.store();
      open.zookeeper();
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path path : (Iterable<Path>) all::iterator) {
          String expected = Files.isDirectory(path) ? "rwx------" : "rw-------";
          assertEquals(
              expected,
              PosixFilePermissions.toString(Files.getPosixFilePermissions(path)),
              path.toString());
        }
      }
    }
  }

  @Test
  void refusesASecondServerByName() throws IOException {
    Path directory = temp.resolve("data");
    try (InstanceDirectory first = InstanceDirectory.open(directory, () -> "abc")) {
      StartException refused =
          assertThrows(
              StartException.class, () -> InstanceDirectory.open(directory, () -> "other"));
      assertTrue(refused.getMessage().contains(first.root().toString()), refused.getMessage());
      assertTrue(
          refused.getMessage().contains("process " + ProcessHandle.current().pid()),
          refused.getMessage());
    }
    InstanceDirectory.open(directory, () -> "other").close();
  }

  @Test
  void refusesANewerFormatByName() throws IOException {
    Path directory = temp.resolve("data");
    InstanceDirectory.open(directory, () -> "abc").close();
    Files.writeString(directory.resolve("VERSION"), "format=2\ninstance=abc\n");
    StartException refused =
        assertThrows(StartException.class, () -> InstanceDirectory.open(directory, () -> "other"));
    assertTrue(refused.getMessage().contains("VERSION says format 2"), refused.getMessage());
  }

  @Test
  void refusesADirectoryWithSomethingElseAndLeavesItAlone() throws IOException {
    Files.writeString(temp.resolve("thesis.tex"), "");
    Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxr-xr-x"));
    StartException refused =
        assertThrows(StartException.class, () -> InstanceDirectory.open(temp, () -> "abc"));
    assertTrue(refused.getMessage().contains("thesis.tex"), refused.getMessage());
    assertEquals("rwxr-xr-x", PosixFilePermissions.toString(Files.getPosixFilePermissions(temp)));
    try (Stream<Path> all = Files.list(temp)) {
      assertEquals(List.of(temp.resolve("thesis.tex")), all.toList());
    }
  }

  @Test
  void takesADirectoryThatAScriptPrepared() throws IOException {
    Files.createDirectories(temp.resolve("conf"));
    Files.writeString(temp.resolve("conf/stele.properties"), "rpc.port=0\n");
    Files.createDirectories(temp.resolve("logs"));
    InstanceDirectory.open(temp, () -> "abc").close();
  }

  @Test
  void aStalePidFileDoesNotBlock() throws IOException {
    InstanceDirectory.open(temp, () -> "abc").close();
    Files.writeString(temp.resolve("stele.pid"), "1\n");
    try (InstanceDirectory open = InstanceDirectory.open(temp, () -> "abc")) {
      assertEquals(
          List.of(ProcessHandle.current().pid() + ""),
          Files.readAllLines(open.root().resolve("stele.pid")));
    }
    assertFalse(Files.exists(temp.resolve("stele.pid")));
  }
}
