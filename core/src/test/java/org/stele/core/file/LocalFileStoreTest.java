package org.stele.core.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalFileStoreTest extends FileStoreContract {
  @TempDir Path directory;

  @Override
  protected FileStore open() throws IOException {
    return LocalFileStore.open(directory.resolve("root"));
  }

  @Test
  void onlyTheOwnerMayRead() throws IOException {
    store.makeDirectory("a/b");
    write("a/b/file", "text");
    store.createLog("a/log", 100).close();
    assertEquals("rwx------", mode("root"));
    assertEquals("rwx------", mode("root/a"));
    assertEquals("rwx------", mode("root/a/b"));
    assertEquals("rw-------", mode("root/a/b/file"));
    assertEquals("rw-------", mode("root/a/log"));
  }

  private String mode(String path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(path)));
  }

  @Test
  void logsReserveRoom() throws IOException {
    Path file = directory.resolve("root/log");
    try (FileOutput output = store.createLog("log", 5L << 20)) {
      output.write(ByteBuffer.allocate(100));
      output.sync();
      long reserved = Files.size(file);
      assertTrue(reserved >= 1 << 20, reserved + " bytes");
      output.write(ByteBuffer.allocate(6 << 20));
      assertEquals((6L << 20) + 100, Files.size(file));
    }
    assertEquals((6L << 20) + 100, Files.size(file));
  }

  /**
   * The JDK keeps a buffer outside of the heap for each thread, as large as its largest transfer.
   */
  @Test
  void largeReadsAndWritesNeedLittleMemoryOutsideOfTheHeap() throws Exception {
    byte[] large = new byte[32 << 20];
    new Random(1).nextBytes(large);
    long before = outsideOfTheHeap();
    try (FileOutput output = store.create("file")) {
      output.write(ByteBuffer.wrap(large, 1, large.length - 1));
      assertEquals(large.length - 1, output.position());
    }
    byte[] found = new byte[large.length];
    try (FileInput input = store.open("file")) {
      input.readFully(0, found, 1, large.length - 1);
      input.readFully(12, found, 13, 300_000);
    }
    found[0] = large[0];
    assertArrayEquals(large, found);
    long more = outsideOfTheHeap() - before;
    assertTrue(more <= 1 << 20, more + " bytes are kept for this thread");
  }

  private static long outsideOfTheHeap() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  @Test
  void anInterruptedReaderDoesNotFailOthers() throws Exception {
    write("file", "text");
    try (FileInput input = store.open("file")) {
      Thread.currentThread().interrupt();
      byte[] target = new byte[4];
      input.readFully(0, target, 0, 4);
      assertTrue(Thread.interrupted(), "the interrupt is kept");
      input.readFully(0, target, 0, 4);
      assertEquals("text", new String(target, UTF_8));
    }
  }

  @Test
  void readersGoOnWhileOneIsInterruptedAgainAndAgain() throws Exception {
    write("file", "text");
    AtomicReference<Throwable> failure = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    try (FileInput input = store.open("file")) {
      Thread victim =
          new Thread(
              () -> {
                byte[] target = new byte[4];
                try {
                  while (done.getCount() > 0) {
                    input.readFully(0, target, 0, 4);
                    Thread.interrupted();
                  }
                } catch (IOException e) {
                  failure.set(e);
                }
              },
              "victim");
      victim.start();
      byte[] target = new byte[4];
      for (int i = 0; i < 2000; i++) {
        victim.interrupt();
        input.readFully(0, target, 0, 4);
      }
      done.countDown();
      victim.join();
    }
    assertEquals(null, failure.get());
  }

  @Test
  void failuresSayMoreThanThePath() throws IOException {
    write("there", "text");
    String missing = directory.resolve("root/missing/file").toString();
    String there = directory.resolve("root/there").toString();
    String noFile = missing + ": no such file or directory";
    assertEquals(
        noFile,
        assertThrows(NoSuchFileException.class, () -> store.open("missing/file")).getMessage());
    assertEquals(
        noFile,
        assertThrows(NoSuchFileException.class, () -> store.create("missing/file")).getMessage());
    assertEquals(
        missing + " -> " + there + "2: no such file or directory",
        assertThrows(NoSuchFileException.class, () -> store.rename("missing/file", "there2"))
            .getMessage());
    assertEquals(
        there + ": it exists already",
        assertThrows(FileAlreadyExistsException.class, () -> store.create("there")).getMessage());
    assertEquals(
        there + ": permission denied",
        FileProblem.inWords(new AccessDeniedException(there)).getMessage());
  }

  @Test
  void aLockIsHeldOnce() throws IOException {
    LocalFileStore local = (LocalFileStore) store;
    FileLock lock = local.lock("lock");
    FileLockedException e = assertThrows(FileLockedException.class, () -> local.lock("lock"));
    assertTrue(e.getMessage().contains("lock"), e.getMessage());
    Path link = directory.resolve("link");
    Files.createSymbolicLink(link, directory.resolve("root"));
    assertThrows(FileLockedException.class, () -> FileLock.acquire(link.resolve("lock")));
    lock.close();
    lock.close();
    local.lock("lock").close();
    assertTrue(store.exists("lock"));
  }

  @Test
  void anotherProcessCannotTakeTheLock() throws Exception {
    try (FileLock lock = ((LocalFileStore) store).lock("lock")) {
      assertEquals(1, tryLockInAnotherProcess(lock.file()));
    }
    assertEquals(0, tryLockInAnotherProcess(directory.resolve("root/lock")));
  }

  /** Exit code: 0 got the lock, 1 it is held. */
  private static int tryLockInAnotherProcess(Path file) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            LockTrial.class.getName(),
            file.toString())
        .inheritIO()
        .start()
        .waitFor();
  }

  /** Tries to take a lock. */
  static final class LockTrial {
    private LockTrial() {}

    public static void main(String[] arguments) throws IOException {
      try (FileLock lock = FileLock.acquire(Path.of(arguments[0]))) {
        System.exit(lock.file().isAbsolute() ? 0 : 2);
      } catch (FileLockedException e) {
        System.exit(1);
      }
    }
  }

  @Test
  void aFileInPlaceOfTheRootIsRefused() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThrows(IOException.class, () -> LocalFileStore.open(file));
    assertFalse(Files.isDirectory(file));
  }
}
