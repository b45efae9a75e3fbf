package org.stele.tserver.memtable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;
import org.stele.core.cursor.CellCursor;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.KeyCodec;

class MemtableTest {
  private static byte[] key(String row, long sequence, CellType type) {
    return KeyCodec.encode(Bytes.of(row), Bytes.EMPTY, Bytes.EMPTY, Bytes.EMPTY, 5, sequence, type);
  }

  private static byte[] keyAt(CellCursor cursor) {
    return Arrays.copyOfRange(
        cursor.keyArray(), cursor.keyOffset(), cursor.keyOffset() + cursor.keyLength());
  }

  @Test
  void agreesWithASortedMap() {
    Seeds.run(20, MemtableTest::compare);
  }

  private static void compare(Random random) throws Exception {
    TreeMap<byte[], byte[]> map = new TreeMap<>(Arrays::compareUnsigned);
    Memtable memtable = new Memtable(random.nextLong());
    long bytes = 0;
    for (int i = 1; i <= 1000; i++) {
      byte[] key = key("r" + random.nextInt(100), i, CellType.PUT);
      byte[] value = new byte[random.nextInt(20)];
      map.put(key, value);
      memtable.add(key, value);
      bytes += Memtable.cellBytes(key.length, value.length);
    }
    assertEquals(map.size(), memtable.cells());
    assertEquals(bytes, memtable.bytes());
    CellCursor cursor = memtable.cursor();
    cursor.seek(new byte[0]);
    for (Map.Entry<byte[], byte[]> entry : map.entrySet()) {
      assertArrayEquals(entry.getKey(), keyAt(cursor));
      assertEquals(entry.getValue(), cursor.valueArray());
      cursor.next();
    }
    assertFalse(cursor.isValid());
    for (int i = 0; i < 200; i++) {
      byte[] target = key("r" + random.nextInt(110), random.nextInt(1100), CellType.PUT);
      cursor.seek(target);
      check(map.ceilingKey(target), cursor);
      cursor.seekBefore(target);
      check(map.lowerKey(target), cursor);
    }
  }

  private static void check(byte[] expected, CellCursor cursor) {
    assertEquals(expected != null, cursor.isValid());
    if (expected != null) {
      assertArrayEquals(expected, keyAt(cursor));
    }
  }

  @Test
  void readersSeeAllThatWasPublished() throws Exception {
    Memtable memtable = new Memtable(1);
    AtomicLong published = new AtomicLong();
    int cells = 50_000;
    List<CompletableFuture<Void>> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(
          CompletableFuture.runAsync(
              () -> {
                long seen = 0;
                while (seen < cells) {
                  seen = published.get();
                  if (seen > 0) {
                    byte[] key = key("r" + seen * 7919 % 100_003, seen, CellType.PUT);
                    CellCursor cursor = memtable.cursor();
                    seek(cursor, key);
                    assertTrue(cursor.isValid());
                    assertArrayEquals(key, keyAt(cursor));
                  }
                }
              }));
    }
    for (long i = 1; i <= cells; i++) {
      memtable.add(key("r" + i * 7919 % 100_003, i, CellType.PUT), new byte[0]);
      published.set(i);
    }
    for (CompletableFuture<Void> reader : readers) {
      reader.get();
    }
  }

  /** Each cell that is added here comes just before the key that is sought. */
  @Test
  void seekNeverEndsBeforeTheKey() throws Exception {
    for (int round = 0; round < 20; round++) {
      Memtable memtable = new Memtable(round);
      int cells = 20_000;
      byte[] sought = key("s", 1, CellType.PUT);
      memtable.add(sought, new byte[0]);
      CountDownLatch reading = new CountDownLatch(1);
      CompletableFuture<Void> reader =
          CompletableFuture.runAsync(
              () -> {
                CellCursor cursor = memtable.cursor();
                do {
                  seek(cursor, sought);
                  assertArrayEquals(sought, keyAt(cursor));
                  reading.countDown();
                } while (memtable.cells() <= cells);
              });
      reading.await();
      for (int i = 0; i < cells; i++) {
        memtable.add(key("r%06d".formatted(i), i + 2, CellType.PUT), new byte[0]);
      }
      reader.get();
    }
  }

  private static void seek(CellCursor cursor, byte[] key) {
    try {
      cursor.seek(key);
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void knowsDeletesOfRowsAndFamilies() {
    Memtable memtable = new Memtable(1);
    memtable.add(key("r", 1, CellType.DELETE_COLUMN), new byte[0]);
    assertFalse(memtable.hasScopeDeletes());
    memtable.add(key("r", 2, CellType.DELETE_FAMILY), new byte[0]);
    assertTrue(memtable.hasScopeDeletes());
  }

  @Test
  void keyComesOnce() {
    Memtable memtable = new Memtable(1);
    memtable.add(key("r", 1, CellType.PUT), new byte[0]);
    assertThrows(
        IllegalStateException.class, () -> memtable.add(key("r", 1, CellType.PUT), new byte[0]));
  }
}
