package org.stele.core.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.stele.core.file.CrashableFileStore.Operation;

class CrashableFileStoreTest extends FileStoreContract {
  private CrashableFileStore crashable;

  @Override
  protected FileStore open() {
    crashable = new CrashableFileStore();
    return crashable;
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }

  @Test
  void aCrashForgetsWhatWasNotSynced() throws IOException {
    FileOutput synced = store.create("synced");
    synced.write(bytes("kept "));
    synced.sync();
    synced.write(bytes("lost"));
    FileOutput never = store.create("never");
    never.write(bytes("lost"));
    crashable.crash();
    assertEquals("kept ", read("synced"));
    assertFalse(store.exists("never"));
    assertThrows(IOException.class, () -> synced.write(bytes("x")));
    crashable.assertNoOpenHandles();
  }

  @Test
  void aKillForgetsNothing() throws IOException {
    FileOutput output = store.create("file");
    output.write(bytes("kept"));
    crashable.kill();
    assertEquals("kept", read("file"));
    assertThrows(IOException.class, output::sync);
  }

  @Test
  void aSeededCrashKeepsDifferentThings() throws IOException {
    Set<String> outcomes = new HashSet<>();
    for (int seed = 0; seed < 100; seed++) {
      crashable = new CrashableFileStore();
      FileOutput output = crashable.create("file");
      output.write(bytes("a".repeat(1000)));
      output.sync();
      output.write(bytes("b".repeat(2000)));
      crashable.crash(seed);
      String after = new String(crashable.contents("file"), UTF_8);
      assertTrue(after.startsWith("a".repeat(1000)));
      outcomes.add(after);
    }
    assertTrue(outcomes.size() > 10, outcomes.size() + " outcomes");
  }

  @Test
  void aFailedSyncLosesItsBytesForEver() throws IOException {
    FileOutput output = store.create("file");
    output.write(bytes("one "));
    output.sync();
    output.write(bytes("two"));
    crashable.failAt(Operation.SYNC, 1, new IOException("no power"));
    IOException e = assertThrows(IOException.class, output::sync);
    assertTrue(e.getMessage().contains("no power"));
    assertThrows(IOException.class, output::sync);
    crashable.crash();
    assertEquals("one ", read("file"));
  }

  @Test
  void theNthCallFails() throws IOException {
    crashable.failAt(Operation.CREATE, 2, new IOException("full"));
    store.create("a").close();
    IOException e = assertThrows(IOException.class, () -> store.create("b"));
    assertEquals("b: full", e.getMessage());
    store.create("b").close();
    crashable.failAll(Operation.OPEN, new IOException("gone"));
    assertThrows(IOException.class, () -> store.open("a"));
    assertThrows(IOException.class, () -> store.open("b"));
    crashable.heal();
    store.open("a").close();
    assertEquals(3, crashable.count(Operation.CREATE));
  }

  @Test
  void aFailedWriteLeavesAPart() throws IOException {
    FileOutput output = store.create("file");
    crashable.failAt(Operation.WRITE, 1, new IOException("full"));
    assertThrows(IOException.class, () -> output.write(bytes("abcd")));
    assertArrayEquals("ab".getBytes(UTF_8), crashable.contents("file"));
    assertThrows(IOException.class, () -> output.write(bytes("x")));
    output.close();
  }

  @Test
  void aHeldCallWaits() throws Exception {
    FileOutput output = store.create("file");
    CrashableFileStore.Hold hold = crashable.holdAt(Operation.SYNC, 1);
    CompletableFuture<Void> sync = runSync(output);
    hold.awaitReached();
    assertFalse(sync.isDone());
    hold.release();
    sync.get();
    CrashableFileStore.Hold second = crashable.holdAt(Operation.SYNC, "file", 1);
    CompletableFuture<Void> failing = runSync(output);
    second.awaitReached();
    second.fail(new IOException("gave up"));
    assertThrows(ExecutionException.class, failing::get);
    output.close();
  }

  private static CompletableFuture<Void> runSync(FileOutput output) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            output.sync();
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  void leakedHandlesAreNamed() throws IOException {
    FileOutput output = store.create("file");
    AssertionError e = assertThrows(AssertionError.class, crashable::assertNoOpenHandles);
    assertTrue(e.getMessage().contains("file"), e.getMessage());
    output.close();
    FileInput input = store.open("file");
    assertThrows(AssertionError.class, crashable::assertNoOpenHandles);
    input.close();
    crashable.assertNoOpenHandles();
  }
}
