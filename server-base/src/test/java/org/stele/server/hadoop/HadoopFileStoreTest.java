package org.stele.server.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.file.FileInput;
import org.stele.core.file.FileOutput;
import org.stele.core.time.Clock;

/** Against Hadoop's local file systems: the raw one syncs, the one with checksums does not. */
class HadoopFileStoreTest {
  @TempDir Path temp;

  private HadoopFileStore openRaw() throws IOException {
    return HadoopFileStore.open(
        temp.resolve("root").toUri(),
        Map.of("fs.file.impl", RawLocalFileSystem.class.getName()),
        Clock.system());
  }

  @Test
  void refusesAFileSystemThatCannotSyncByName() {
    URI root = temp.resolve("root").toUri();
    IOException refused =
        assertThrows(IOException.class, () -> HadoopFileStore.open(root, Map.of(), Clock.system()));
    assertTrue(refused.getMessage().contains(root.toString()), refused.getMessage());
    assertTrue(refused.getMessage().contains("LocalFileSystem"), refused.getMessage());
    assertTrue(refused.getMessage().contains("no hflush"), refused.getMessage());
  }

  @Test
  void writesReadsListsRenamesAndDeletes() throws IOException {
    try (HadoopFileStore store = openRaw()) {
      store.makeDirectory("a/b");
      write(store, "a/b/two", "22");
      write(store, "a/b/one", "1");
      assertEquals(
          List.of("one 1", "two 2"),
          store.list("a/b").stream().map(entry -> entry.name() + " " + entry.length()).toList());
      try (FileInput in = store.open("a/b/two")) {
        byte[] bytes = new byte[2];
        in.readFully(0, bytes, 0, 2);
        assertArrayEquals("22".getBytes(UTF_8), bytes);
        assertThrows(EOFException.class, () -> in.readFully(1, bytes, 0, 2));
      }
      store.rename("a/b", "a/c");
      assertFalse(store.exists("a/b"));
      store.delete("a/c/one");
      store.delete("a/c/one");
      assertEquals(1, store.list("a/c").size());
      assertEquals(List.of(), store.list("nowhere"));
    }
  }

  @Test
  void namesWhatIsMissingOrThere() throws IOException {
    try (HadoopFileStore store = openRaw()) {
      write(store, "one", "1");
      assertThrows(FileAlreadyExistsException.class, () -> store.create("one"));
      assertThrows(NoSuchFileException.class, () -> store.open("two"));
      assertThrows(IOException.class, () -> store.create("no/parents"));
      write(store, "two", "2");
      assertThrows(IOException.class, () -> store.rename("one", "two"));
    }
  }

  private static void write(HadoopFileStore store, String path, String text) throws IOException {
    try (FileOutput out = store.create(path)) {
      out.write(ByteBuffer.wrap(text.getBytes(UTF_8)));
      out.flush();
      out.sync();
      assertEquals(text.length(), out.position());
    }
  }
}
