package org.stele.core.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.concurrent.WouldBlockException;

/** What every file store does; a test of a store extends it. */
public abstract class FileStoreContract {
  protected FileStore store;

  /** An empty store. */
  protected abstract FileStore open() throws IOException;

  @BeforeEach
  final void openStore() throws IOException {
    store = open();
  }

  @AfterEach
  final void closeStore() throws IOException {
    NonBlocking.exit();
    store.close();
  }

  protected final void write(String path, String text) throws IOException {
    try (FileOutput output = store.create(path)) {
      output.write(ByteBuffer.wrap(text.getBytes(UTF_8)));
      output.sync();
    }
  }

  protected final String read(String path) throws IOException {
    try (FileInput input = store.open(path)) {
      byte[] bytes = new byte[Math.toIntExact(input.length())];
      input.readFully(0, bytes, 0, bytes.length);
      return new String(bytes, UTF_8);
    }
  }

  @Test
  void readsWhatWasWritten() throws IOException {
    try (FileOutput output = store.create("file")) {
      assertEquals(0, output.position());
      output.write(ByteBuffer.wrap("one ".getBytes(UTF_8)));
      output.flush();
      output.write(ByteBuffer.wrap("..two..".getBytes(UTF_8), 2, 3));
      assertEquals(7, output.position());
      output.write(ByteBuffer.allocate(0));
      output.sync();
    }
    assertEquals("one two", read("file"));
    try (FileInput input = store.open("file")) {
      byte[] target = "________".getBytes(UTF_8);
      input.readFully(4, target, 1, 3);
      assertEquals("_two____", new String(target, UTF_8));
      input.readFully(7, target, 0, 0);
    }
  }

  @Test
  void readsBeyondTheEndFail() throws IOException {
    write("file", "abc");
    try (FileInput input = store.open("file")) {
      EOFException e =
          assertThrows(EOFException.class, () -> input.readFully(1, new byte[3], 0, 3));
      assertTrue(e.getMessage().contains("file"), e.getMessage());
      assertThrows(EOFException.class, () -> input.readFully(4, new byte[1], 0, 1));
      byte[] target = new byte[3];
      input.readFully(0, target, 0, 3);
      assertArrayEquals("abc".getBytes(UTF_8), target);
    }
  }

  @Test
  void filesAreNotOverwritten() throws IOException {
    write("file", "first");
    FileAlreadyExistsException e =
        assertThrows(FileAlreadyExistsException.class, () -> store.create("file"));
    assertTrue(e.getMessage().contains("file"), e.getMessage());
    assertThrows(FileAlreadyExistsException.class, () -> store.createLog("file", 100));
    assertEquals("first", read("file"));
  }

  @Test
  void directoriesAreNotMadeByFiles() throws IOException {
    assertThrows(NoSuchFileException.class, () -> store.create("missing/file"));
    assertThrows(NoSuchFileException.class, () -> store.createLog("missing/file", 100));
    assertFalse(store.exists("missing"));
  }

  @Test
  void missingFilesAreNamed() {
    NoSuchFileException e = assertThrows(NoSuchFileException.class, () -> store.open("a-file"));
    assertTrue(e.getMessage().contains("a-file"), e.getMessage());
  }

  @Test
  void directoriesAreListedInOrder() throws IOException {
    assertEquals(List.of(), store.list("missing"));
    store.makeDirectory("a/b/c");
    store.makeDirectory("a/b/c");
    store.makeDirectory("a/x");
    write("a/b/second", "22");
    write("a/b/First", "1");
    assertEquals(
        List.of(
            new FileStore.Entry("First", false, 1),
            new FileStore.Entry("c", true, 0),
            new FileStore.Entry("second", false, 2)),
        store.list("a/b"));
    assertEquals(List.of(new FileStore.Entry("a", true, 0)), store.list(""));
    assertTrue(store.exists("a/b/c"));
  }

  @Test
  void renamesFilesAndDirectories() throws IOException {
    store.makeDirectory("a/b");
    store.makeDirectory("c");
    write("a/b/file", "text");
    store.rename("a/b/file", "a/b/renamed");
    assertEquals("text", read("a/b/renamed"));
    assertFalse(store.exists("a/b/file"));
    store.rename("a/b", "c/d");
    assertEquals("text", read("c/d/renamed"));
    assertFalse(store.exists("a/b"));
    assertThrows(NoSuchFileException.class, () -> store.rename("none", "other"));
    store.makeDirectory("taken");
    assertThrows(FileAlreadyExistsException.class, () -> store.rename("c/d", "taken"));
    assertThrows(NoSuchFileException.class, () -> store.rename("c/d", "missing/d"));
  }

  @Test
  void openInputsOutliveRenameAndDelete() throws IOException {
    write("file", "text");
    try (FileInput input = store.open("file")) {
      store.rename("file", "other");
      store.delete("other");
      byte[] target = new byte[4];
      input.readFully(0, target, 0, 4);
      assertEquals("text", new String(target, UTF_8));
    }
  }

  @Test
  void deletes() throws IOException {
    store.makeDirectory("d");
    write("d/file", "text");
    assertThrows(FileSystemException.class, () -> store.delete("d"));
    store.delete("d/file");
    store.delete("d/file");
    store.delete("d");
    assertFalse(store.exists("d"));
  }

  @Test
  void logsMayHaveZerosBehind() throws IOException {
    byte[] record = "record".getBytes(UTF_8);
    try (FileOutput output = store.createLog("log", 10_000)) {
      for (int i = 0; i < 3000; i++) {
        output.write(ByteBuffer.wrap(record));
        if (i % 1000 == 0) {
          output.sync();
        }
        if (i == 100) {
          checkLog(record, 101);
        }
      }
      assertEquals(3000L * record.length, output.position());
      checkLog(record, 3000);
    }
    try (FileInput input = store.open("log")) {
      assertEquals(3000L * record.length, input.length(), "zeros are cut off at close");
    }
  }

  private void checkLog(byte[] record, int records) throws IOException {
    try (FileInput input = store.open("log")) {
      byte[] bytes = new byte[Math.toIntExact(input.length())];
      input.readFully(0, bytes, 0, bytes.length);
      for (int i = 0; i < bytes.length; i++) {
        int expected = i < records * record.length ? record[i % record.length] : 0;
        assertEquals(expected, bytes[i]);
      }
      assertTrue(bytes.length >= records * record.length);
    }
  }

  @Test
  void closedOutputsTakeNothing() throws IOException {
    FileOutput output = store.create("file");
    output.write(ByteBuffer.wrap(new byte[3]));
    output.close();
    output.close();
    assertThrows(IOException.class, () -> output.write(ByteBuffer.wrap(new byte[1])));
    assertThrows(IOException.class, output::sync);
    try (FileInput input = store.open("file")) {
      assertEquals(3, input.length());
    }
  }

  @Test
  void closedInputsGiveNothing() throws IOException {
    write("file", "text");
    FileInput input = store.open("file");
    input.close();
    input.close();
    assertThrows(IOException.class, () -> input.readFully(0, new byte[1], 0, 1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/absolute",
        "..",
        "a/../b",
        "a/..",
        "./a",
        "a/./b",
        "a//b",
        "a/",
        "",
        "a\\b",
        "a\0b",
        "a\nb"
      })
  void badPathsAreRefused(String path) {
    assertThrows(IllegalArgumentException.class, () -> store.create(path));
    assertThrows(IllegalArgumentException.class, () -> store.createLog(path, 1));
    assertThrows(IllegalArgumentException.class, () -> store.open(path));
    assertThrows(IllegalArgumentException.class, () -> store.exists(path));
    assertThrows(IllegalArgumentException.class, () -> store.delete(path));
    assertThrows(IllegalArgumentException.class, () -> store.rename(path, "x"));
    assertThrows(IllegalArgumentException.class, () -> store.rename("x", path));
    if (!path.isEmpty()) {
      assertThrows(IllegalArgumentException.class, () -> store.list(path));
      assertThrows(IllegalArgumentException.class, () -> store.makeDirectory(path));
    }
  }

  @Test
  void threadsThatMustNotBlockAreStopped() throws IOException {
    write("file", "text");
    FileOutput output = store.create("other");
    FileInput input = store.open("file");
    NonBlocking.enter();
    try {
      assertThrows(WouldBlockException.class, () -> store.create("x"));
      assertThrows(WouldBlockException.class, () -> store.createLog("x", 1));
      assertThrows(WouldBlockException.class, () -> store.open("file"));
      assertThrows(WouldBlockException.class, () -> store.exists("file"));
      assertThrows(WouldBlockException.class, () -> store.list(""));
      assertThrows(WouldBlockException.class, () -> store.rename("file", "y"));
      assertThrows(WouldBlockException.class, () -> store.delete("file"));
      assertThrows(WouldBlockException.class, () -> store.makeDirectory("d"));
      assertThrows(WouldBlockException.class, () -> output.write(ByteBuffer.allocate(1)));
      assertThrows(WouldBlockException.class, output::flush);
      assertThrows(WouldBlockException.class, output::sync);
      assertThrows(WouldBlockException.class, () -> input.readFully(0, new byte[1], 0, 1));
    } finally {
      NonBlocking.exit();
    }
    input.close();
    output.close();
    assertEquals("text", read("file"));
  }
}
