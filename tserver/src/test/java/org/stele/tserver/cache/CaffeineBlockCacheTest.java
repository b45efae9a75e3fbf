package org.stele.tserver.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.core.compression.Compression;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.concurrent.WouldBlockException;
import org.stele.core.cursor.CellCursor;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.KeyCodec;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.sortedfile.BlockCache.Kind;
import org.stele.core.sortedfile.SortedFileOptions;
import org.stele.core.sortedfile.SortedFileReader;
import org.stele.core.sortedfile.SortedFileWriter;

/** The cache below real readers of real files. */
class CaffeineBlockCacheTest {
  private static final int ROWS = 2000;

  private final CrashableFileStore store = new CrashableFileStore();
  private final ExecutorService pool =
      Executors.newCachedThreadPool(task -> new Thread(task, "reader"));

  @BeforeEach
  void writeFile() throws IOException {
    SortedFileOptions options = new SortedFileOptions("t", Compression.NONE, 1024, 10);
    try (SortedFileWriter writer = SortedFileWriter.create(store, "f", options)) {
      for (int i = 0; i < ROWS; i++) {
        byte[] key = key(i);
        byte[] value = new byte[50];
        writer.add(key, 0, key.length, value, 0, value.length);
      }
      writer.finish();
    }
  }

  @AfterEach
  void stop() {
    pool.shutdownNow();
    store.assertNoOpenHandles();
  }

  private static byte[] key(int row) {
    return KeyCodec.encode(
        Bytes.of("row" + (100_000 + row)),
        Bytes.EMPTY,
        Bytes.EMPTY,
        Bytes.EMPTY,
        1,
        1,
        CellType.PUT);
  }

  private static boolean find(SortedFileReader reader, int row) throws IOException {
    try (CellCursor cursor = reader.cursor(true)) {
      cursor.seek(key(row));
      return cursor.isValid() && cursor.keyLength() == key(row).length;
    }
  }

  @Test
  void blockIsReadOnceHoweverManyAsk() throws Exception {
    CaffeineBlockCache cache = new CaffeineBlockCache(1 << 20, 1 << 20);
    SortedFileReader reader = SortedFileReader.open(store, "f", 1, cache);
    try {
      store.resetCounts();
      CrashableFileStore.Hold hold = store.holdAt(Operation.READ, 1);
      CountDownLatch begun = new CountDownLatch(64);
      List<Future<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        all.add(
            pool.submit(
                () -> {
                  begun.countDown();
                  return find(reader, 77);
                }));
      }
      begun.await();
      hold.awaitReached();
      hold.release();
      for (Future<Boolean> each : all) {
        assertTrue(each.get(30, TimeUnit.SECONDS));
      }
      assertEquals(1, store.count(Operation.READ));
      assertEquals(1, cache.counters(Kind.DATA).loads());
      assertTrue(find(reader, 77));
      assertEquals(1, store.count(Operation.READ));
      assertTrue(cache.counters(Kind.DATA).hits() > 0);
      assertTrue(cache.counters(Kind.DATA).bytes() > 1024);
    } finally {
      reader.close();
    }
  }

  @Test
  void failureGoesToAllWhoWaitAndIsForgotten() throws Exception {
    CaffeineBlockCache cache = new CaffeineBlockCache(1 << 20, 1 << 20);
    SortedFileReader reader = SortedFileReader.open(store, "f", 1, cache);
    try {
      store.flip("f", 200, 1);
      AtomicInteger failures = new AtomicInteger();
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        all.add(
            pool.submit(
                () -> {
                  for (int n = 0; n < 20; n++) {
                    assertThrows(CorruptFileException.class, () -> find(reader, 0));
                    failures.incrementAndGet();
                  }
                }));
      }
      for (Future<?> each : all) {
        try {
          each.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
          throw new AssertionError(e.getCause());
        }
      }
      assertEquals(64 * 20, failures.get());
      assertTrue(find(reader, ROWS - 1), "other blocks are good");
      store.flip("f", 200, 1);
      assertTrue(find(reader, 0), "the file was repaired");
    } finally {
      reader.close();
    }
  }

  @Test
  void selectorThreadIsToldThatItWouldBlock() throws Exception {
    CaffeineBlockCache cache = new CaffeineBlockCache(1 << 20, 1 << 20);
    SortedFileReader reader = SortedFileReader.open(store, "f", 1, cache);
    try {
      NonBlocking.enter();
      try {
        assertThrows(WouldBlockException.class, () -> find(reader, 3));
      } finally {
        NonBlocking.exit();
      }
      assertTrue(find(reader, 3));
      NonBlocking.enter();
      try {
        assertTrue(find(reader, 3), "it is in the cache now");
      } finally {
        NonBlocking.exit();
      }
    } finally {
      reader.close();
    }
  }

  @Test
  void budgetHolds() throws Exception {
    CaffeineBlockCache cache = new CaffeineBlockCache(20_000, 1 << 20);
    SortedFileReader reader = SortedFileReader.open(store, "f", 1, cache);
    try {
      for (int i = 0; i < ROWS; i++) {
        assertTrue(find(reader, i));
      }
      CacheCounters data = cache.counters(Kind.DATA);
      assertTrue(data.bytes() <= 20_000, data.toString());
      assertTrue(data.blocks() > 2, data.toString());
      assertTrue(data.evictions() > 0, data.toString());
    } finally {
      reader.close();
    }
  }

  @Test
  void blockTooLargeIsServedAndNotKept() throws Exception {
    CaffeineBlockCache cache = new CaffeineBlockCache(4000, 0);
    SortedFileReader reader = SortedFileReader.open(store, "f", 1, cache);
    try {
      assertTrue(find(reader, 5));
      assertTrue(find(reader, 5));
      assertEquals(0, cache.counters(Kind.DATA).blocks());
      assertFalse(cache.counters(Kind.DATA).loads() < 2);
    } finally {
      reader.close();
    }
  }
}
