package org.stele.core.sortedfile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;
import org.stele.core.compression.Compression;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.concurrent.WouldBlockException;
import org.stele.core.cursor.CellCursor;
import org.stele.core.cursor.Cursors;
import org.stele.core.cursor.ListCursor;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellModel;
import org.stele.core.data.CellType;
import org.stele.core.data.DataLimits;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.RandomEntries;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;

class SortedFileTest {
  private static final String PATH = "file.sf";

  private final CrashableFileStore store = new CrashableFileStore();

  @AfterEach
  void handlesAreClosed() {
    NonBlocking.exit();
    store.assertNoOpenHandles();
  }

  static SortedFileOptions options(Compression compression, int blockBytes, int filterBits) {
    return new SortedFileOptions("7", compression, blockBytes, filterBits);
  }

  static SortedFileOptions options(Random random) {
    Compression[] all = Compression.values();
    return options(
        all[random.nextInt(all.length)],
        64 << random.nextInt(6),
        random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(20));
  }

  static SortedFileSummary write(
      CrashableFileStore store,
      String path,
      SortedFileOptions options,
      List<CellModel.Entry> entries)
      throws IOException {
    try (SortedFileWriter writer = SortedFileWriter.create(store, path, options);
        ListCursor cursor = ListCursor.of(entries)) {
      for (cursor.seek(new byte[0]); cursor.isValid(); cursor.next()) {
        writer.add(cursor);
      }
      return writer.finish();
    }
  }

  private SortedFileReader open(BlockCache cache) throws IOException {
    return SortedFileReader.open(store, PATH, 1, cache);
  }

  static CellModel.Entry put(Bytes row, Bytes qualifier, long timestamp, Bytes value) {
    return new CellModel.Entry(
        row, Bytes.of("f"), qualifier, Bytes.EMPTY, timestamp, 1, CellType.PUT, value);
  }

  static CellModel.Entry put(String row, String value) {
    return put(Bytes.of(row), Bytes.of("q"), 5, Bytes.of(value));
  }

  private static List<CellModel.Entry> rows(int count) {
    List<CellModel.Entry> entries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      entries.add(put(String.format("row%06d", i), "value " + i));
    }
    return entries;
  }

  @Test
  void readsBackWhatWasWritten() {
    Seeds.run(
        200,
        random -> {
          CrashableFileStore files = new CrashableFileStore();
          List<CellModel.Entry> all =
              new RandomEntries(random, true).history(random.nextInt(600), 1);
          SortedFileSummary summary = write(files, PATH, options(random), all);
          assertEquals(files.contents(PATH).length, summary.length());
          BlockCache cache = random.nextBoolean() ? new MapCache() : BlockCache.NONE;
          try (SortedFileReader reader = SortedFileReader.open(files, PATH, 1, cache);
              CellCursor cursor = reader.cursor(random.nextBoolean())) {
            assertEquals(summary.properties(), reader.properties());
            SortedFileCheck.Report report = SortedFileCheck.check(reader);
            assertEquals(all.size(), report.entries());
            walkBoth(random, all, ListCursor.of(all), cursor);
          }
          files.assertNoOpenHandles();
        });
  }

  /** Moves both cursors at random, also forwards after a seek backwards, and compares them. */
  private static void walkBoth(
      Random random, List<CellModel.Entry> all, CellCursor expected, CellCursor actual)
      throws IOException {
    List<byte[]> targets = new ArrayList<>();
    for (CellModel.Entry entry : all) {
      byte[] key = entry.key();
      targets.add(key);
      targets.add(Arrays.copyOf(key, random.nextInt(key.length + 3)));
      key = key.clone();
      key[random.nextInt(key.length)] += (byte) (1 + random.nextInt(2));
      targets.add(key);
    }
    targets.add(new byte[0]);
    targets.add(new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff});
    for (int move = 0; move < 150; move++) {
      byte[] target = targets.get(random.nextInt(targets.size()));
      if (random.nextInt(4) == 0) {
        expected.seekBefore(target);
        actual.seekBefore(target);
        assertSameCell(expected, actual);
        continue;
      }
      expected.seek(target);
      actual.seek(target);
      for (int step = random.nextInt(20); step >= 0; step--) {
        assertSameCell(expected, actual);
        if (!expected.isValid()) {
          break;
        }
        expected.next();
        actual.next();
      }
    }
  }

  private static void assertSameCell(CellCursor expected, CellCursor actual) {
    assertEquals(expected.isValid(), actual.isValid());
    if (expected.isValid()) {
      assertArrayEquals(Cursors.key(expected), Cursors.key(actual));
      assertEquals(Cursors.value(expected), Cursors.value(actual));
    }
  }

  @Test
  void anIndexOfSeveralLevels() throws IOException {
    List<CellModel.Entry> all = rows(30_000);
    SortedFileSummary summary = write(store, PATH, options(Compression.LZ4, 64, 10), all);
    assertTrue(summary.properties().index().levels() >= 2, summary.toString());
    MapCache cache = new MapCache();
    try (SortedFileReader reader = open(cache);
        CellCursor cursor = reader.cursor(true)) {
      SortedFileCheck.check(reader);
      assertEquals(all, Cursors.entries(cursor));
      Random random = new Random(1);
      for (int i = 0; i < 2000; i++) {
        int row = random.nextInt(all.size());
        cursor.seek(KeyCodec.lowerBound(all.get(row).row()));
        assertEquals(all.get(row), Cursors.entry(cursor));
        cursor.seekBefore(all.get(row).key());
        assertEquals(row > 0, cursor.isValid());
        if (row > 0) {
          assertEquals(all.get(row - 1), Cursors.entry(cursor));
        }
      }
    }
  }

  @Test
  void aCursorIsGivenOneFileAfterTheOther() throws IOException {
    List<CellModel.Entry> many = rows(30_000);
    List<CellModel.Entry> few = rows(10);
    write(store, PATH, options(Compression.LZ4, 64, 10), many);
    write(store, "few.sf", options(Compression.NONE, 4096, 10), few);
    MapCache cache = new MapCache();
    try (SortedFileReader large = open(cache);
        SortedFileReader small = SortedFileReader.open(store, "few.sf", 2, cache)) {
      SortedFileCursor cursor = new SortedFileCursor();
      for (int round = 0; round < 3; round++) {
        cursor.reset(small, true);
        assertFalse(cursor.isValid());
        assertEquals(few, Cursors.entries(cursor));
        cursor.stopBefore(few.get(1).key());
        cursor.seek(few.get(1).key());
        cursor.reset(large, true);
        assertFalse(cursor.isValid());
        assertEquals(many, Cursors.entries(cursor));
        cursor.close();
        assertFalse(cursor.isValid());
      }
    }
  }

  @Test
  void propertiesSayWhatIsInTheFile() throws IOException {
    List<CellModel.Entry> entries =
        List.of(
            new CellModel.Entry(
                Bytes.of("a"),
                Bytes.EMPTY,
                Bytes.EMPTY,
                Bytes.EMPTY,
                -5,
                7,
                CellType.DELETE_ROW,
                Bytes.EMPTY),
            new CellModel.Entry(
                Bytes.of("a"),
                Bytes.of("f"),
                Bytes.EMPTY,
                Bytes.EMPTY,
                9,
                -1,
                CellType.DELETE_FAMILY,
                Bytes.EMPTY),
            new CellModel.Entry(
                Bytes.of("b"),
                Bytes.of("f"),
                Bytes.of("q"),
                Bytes.EMPTY,
                1,
                8,
                CellType.DELETE_COLUMN,
                Bytes.EMPTY),
            new CellModel.Entry(
                Bytes.of("b"),
                Bytes.of("f"),
                Bytes.of("q"),
                Bytes.EMPTY,
                0,
                9,
                CellType.PUT,
                Bytes.of("value")));
    try (SortedFileWriter writer =
        SortedFileWriter.create(store, PATH, options(Compression.ZSTD, 4096, 10))) {
      for (CellModel.Entry entry : entries) {
        byte[] key = entry.key();
        byte[] value = entry.value().toArray();
        writer.add(key, 0, key.length, value, 0, value.length);
      }
      writer.setExtra("writers", Bytes.of("window"));
      writer.finish();
    }
    try (SortedFileReader reader = open(BlockCache.NONE)) {
      SortedFileProperties properties = reader.properties();
      assertEquals("7", properties.tableId());
      assertEquals(Compression.ZSTD, properties.compression());
      assertEquals(4, properties.entries());
      assertEquals(2, properties.rows());
      assertEquals(7, properties.minSequence());
      assertEquals(-1, properties.maxSequence(), "sequences are unsigned");
      assertEquals(-5, properties.minTimestamp());
      assertEquals(9, properties.maxTimestamp());
      assertEquals(Bytes.wrap(entries.get(0).key()), properties.firstKey());
      assertEquals(Bytes.wrap(entries.get(3).key()), properties.lastKey());
      assertTrue(properties.hasScopeDeletes());
      assertEquals(1, properties.columnDeletes());
      assertEquals(5, properties.valueBytes());
      assertEquals(Map.of("writers", Bytes.of("window")), properties.extra());
      SortedFileCheck.check(reader);
    }
  }

  @Test
  void anEmptyFile() throws IOException {
    write(store, PATH, options(Compression.LZ4, 4096, 10), List.of());
    try (SortedFileReader reader = open(BlockCache.NONE);
        CellCursor cursor = reader.cursor(true)) {
      assertEquals(0, SortedFileCheck.check(reader).entries());
      cursor.seek(new byte[0]);
      assertFalse(cursor.isValid());
      cursor.seekBefore(new byte[] {(byte) 0xff});
      assertFalse(cursor.isValid());
      byte[] key = put("row", "").key();
      assertFalse(reader.mayContainRow(key, KeyCodec.partLength(key, 0, key.length)));
      assertEquals(List.of(), reader.sampleKeys(5));
    }
  }

  @Test
  void theFilterDeniesNoRowThatIsThereAndMostOthers() throws IOException {
    List<CellModel.Entry> all = rows(20_000);
    write(store, PATH, options(Compression.NONE, 4096, 10), all);
    try (SortedFileReader reader = open(new MapCache())) {
      for (CellModel.Entry entry : all) {
        byte[] key = KeyCodec.lowerBound(entry.row());
        assertTrue(reader.mayContainRow(key, key.length));
      }
      int wrong = 0;
      for (int i = 0; i < 20_000; i++) {
        byte[] key = KeyCodec.lowerBound(Bytes.of(String.format("row%06d+", i)));
        wrong += reader.mayContainRow(key, key.length) ? 1 : 0;
      }
      assertTrue(wrong < 20_000 * 0.02, wrong + " of 20000 absent rows are not denied");
      for (String outside : List.of("a", "row", "row999999", "z")) {
        byte[] key = KeyCodec.lowerBound(Bytes.of(outside));
        assertFalse(reader.mayContainRow(key, key.length), outside);
      }
    }
  }

  @Test
  void aFilterOfSeveralSectionsAndPages() throws IOException {
    List<CellModel.Entry> all = rows(25_000);
    try (SortedFileWriter writer =
        SortedFileWriter.create(store, PATH, options(Compression.NONE, 4096, 32), 10_000)) {
      for (CellModel.Entry entry : all) {
        byte[] key = entry.key();
        writer.add(key, 0, key.length, key, 0, 0);
      }
      writer.finish();
    }
    try (SortedFileReader reader = open(new MapCache())) {
      assertEquals(3, reader.properties().filter().sections().size());
      SortedFileCheck.Report report = SortedFileCheck.check(reader);
      assertEquals(2 + 2 + 1, report.filterPages());
      // A full section is written before what comes behind it: the writer does not keep it.
      List<Long> pageOffsets = new ArrayList<>();
      List<Long> dataOffsets = new ArrayList<>();
      SortedFileCheck.visitBlocks(
          reader,
          block -> {
            if (block.kind() == BlockInfo.Kind.FILTER) {
              pageOffsets.add(block.offset());
            } else if (block.kind() == BlockInfo.Kind.DATA) {
              dataOffsets.add(block.offset());
            }
          });
      int blocks = dataOffsets.size();
      assertTrue(pageOffsets.get(0) < dataOffsets.get(blocks / 2), "the first of 10,000 rows");
      assertTrue(pageOffsets.get(2) < dataOffsets.get(blocks - 1), "the next 10,000 rows");
      assertTrue(pageOffsets.get(4) > dataOffsets.get(blocks - 1), "the last 5,000 rows");
      int wrong = 0;
      for (CellModel.Entry entry : all) {
        byte[] absent = KeyCodec.lowerBound(KeyCodec.rowAfter(entry.row()));
        wrong += reader.mayContainRow(absent, absent.length) ? 1 : 0;
      }
      assertTrue(wrong < 50, wrong + " absent rows are not denied");
    }
  }

  @Test
  void theHashIsXxh64() {
    assertEquals(0xEF46DB3751D8E999L, RowFilter.hash(new byte[0], 0, 0));
    assertEquals(0xD24EC4F1A98C6E5BL, RowFilter.hash(new byte[] {'a'}, 0, 1));
    assertEquals(0x44BC2CF5AD770999L, RowFilter.hash(new byte[] {'x', 'a', 'b', 'c'}, 1, 3));
  }

  @Test
  void manyThreadsShareAReader() throws Exception {
    List<CellModel.Entry> all = rows(3000);
    write(store, PATH, options(Compression.LZ4, 512, 10), all);
    store.flip(PATH, 100, 1); // in the first data block
    try (SortedFileReader reader = open(BlockCache.NONE)) {
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int thread = 0; thread < 16; thread++) {
        Random random = new Random(thread);
        threads.add(CompletableFuture.runAsync(() -> lookUpSome(reader, all, random)));
      }
      for (CompletableFuture<Void> thread : threads) {
        thread.get(60, TimeUnit.SECONDS);
      }
    }
  }

  private static void lookUpSome(
      SortedFileReader reader, List<CellModel.Entry> all, Random random) {
    for (int i = 0; i < 300; i++) {
      int row = random.nextInt(20) == 0 ? 0 : 100 + random.nextInt(all.size() - 100);
      try (CellCursor cursor = reader.cursor(true)) {
        cursor.seek(all.get(row).key());
        assertEquals(all.get(row), Cursors.entry(cursor));
        assertTrue(row > 0, "damage was not found");
      } catch (CorruptFileException e) {
        assertEquals(0, row);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void rowsOfDeletesAreInTheFilterToo() throws IOException {
    write(
        store,
        PATH,
        options(Compression.NONE, 4096, 20),
        List.of(
            new CellModel.Entry(
                Bytes.of("gone"),
                Bytes.EMPTY,
                Bytes.EMPTY,
                Bytes.EMPTY,
                1,
                1,
                CellType.DELETE_ROW,
                Bytes.EMPTY)));
    try (SortedFileReader reader = open(BlockCache.NONE)) {
      byte[] key = put("gone", "").key();
      assertTrue(reader.mayContainRow(key, KeyCodec.partLength(key, 0, key.length)));
    }
  }

  @Test
  void aLookupTouchesOneDataBlock() throws IOException {
    List<CellModel.Entry> all = rows(5000);
    write(store, PATH, options(Compression.LZ4, 512, 10), all);
    MapCache cache = new MapCache();
    try (SortedFileReader reader = open(cache)) {
      for (CellModel.Entry entry : all) {
        byte[] lower = KeyCodec.lowerBound(entry.row());
        cache.requested.clear();
        try (CellCursor cursor = reader.cursor(true)) {
          cursor.stopBefore(KeyCodec.upperBound(entry.row()));
          cursor.seek(lower);
          assertEquals(entry, Cursors.entry(cursor));
          cursor.next();
        }
        long data = cache.requested.stream().filter(key -> key.startsWith("DATA")).count();
        assertEquals(1, data, entry.row().toString());
      }
    }
  }

  @Test
  void cachedBlocksAreReadOnce() throws IOException {
    write(store, PATH, options(Compression.LZ4, 512, 10), rows(5000));
    try (SortedFileReader reader = open(new MapCache())) {
      Cursors.entries(reader.cursor(true));
      store.resetCounts();
      NonBlocking.enter();
      assertEquals(5000, Cursors.entries(reader.cursor(true)).size());
      assertEquals(5000, Cursors.entries(reader.cursor(false)).size());
      NonBlocking.exit();
      assertEquals(0, store.count(Operation.READ));
    }
  }

  @Test
  void scansCanPassTheCacheBy() throws IOException {
    write(store, PATH, options(Compression.LZ4, 512, 10), rows(5000));
    MapCache cache = new MapCache();
    try (SortedFileReader reader = open(cache)) {
      Cursors.entries(reader.cursor(false));
      assertTrue(cache.blocks.keySet().stream().noneMatch(key -> key.startsWith("DATA")));
    }
  }

  @Test
  void aMissOnAThreadThatMustNotBlockIsNotRead() throws IOException {
    write(store, PATH, options(Compression.LZ4, 512, 10), rows(100));
    try (SortedFileReader reader = open(new MapCache());
        CellCursor cursor = reader.cursor(true)) {
      byte[] key = KeyCodec.lowerBound(Bytes.of("row000050"));
      NonBlocking.enter();
      assertThrows(WouldBlockException.class, () -> cursor.seek(key));
      assertThrows(WouldBlockException.class, () -> reader.mayContainRow(key, key.length));
      NonBlocking.exit();
      assertTrue(reader.mayContainRow(key, key.length));
    }
  }

  @Test
  void keysMustAscend() throws IOException {
    byte[] a = put("a", "").key();
    byte[] b = put("b", "").key();
    try (SortedFileWriter writer =
        SortedFileWriter.create(store, PATH, options(Compression.NONE, 4096, 10))) {
      writer.add(b, 0, b.length, a, 0, 0);
      assertThrows(IllegalArgumentException.class, () -> writer.add(a, 0, a.length, a, 0, 0));
      IllegalArgumentException e =
          assertThrows(IllegalArgumentException.class, () -> writer.add(b, 0, b.length, a, 0, 0));
      assertTrue(e.getMessage().contains("row b after row b"), e.getMessage());
    }
  }

  @Test
  void keysMustBeKeys() throws IOException {
    try (SortedFileWriter writer =
        SortedFileWriter.create(store, PATH, options(Compression.NONE, 4096, 10))) {
      byte[] tooShort = new byte[18];
      assertThrows(
          IllegalArgumentException.class,
          () -> writer.add(tooShort, 0, tooShort.length, tooShort, 0, 0));
      byte[] unknownType = put("a", "").key();
      unknownType[unknownType.length - 1] = 77;
      assertThrows(
          IllegalArgumentException.class,
          () -> writer.add(unknownType, 0, unknownType.length, unknownType, 0, 0));
      byte[] huge = new byte[SortedFileFormat.MAX_KEY_BYTES + 1];
      assertThrows(
          IllegalArgumentException.class, () -> writer.add(huge, 0, huge.length, huge, 0, 0));
    }
  }

  @Test
  void theLargestKeysAndValues() throws IOException {
    byte[] zeros = new byte[DataLimits.MAX_KEY_BYTES - 2];
    byte[] ones = new byte[DataLimits.MAX_KEY_BYTES - 1];
    Arrays.fill(ones, (byte) 0xff);
    byte[] large = new byte[DataLimits.MAX_VALUE_BYTES];
    new Random(1).nextBytes(large);
    List<CellModel.Entry> entries =
        List.of(
            put(Bytes.wrap(zeros), Bytes.of("q"), 5, Bytes.of("small")),
            put(Bytes.of("m"), Bytes.of("q"), 5, Bytes.wrap(large)),
            put(Bytes.of("n"), Bytes.of("q"), 5, Bytes.of("small")),
            put(Bytes.of("n"), Bytes.wrap(Arrays.copyOf(ones, ones.length - 1)), 5, Bytes.EMPTY),
            put(Bytes.wrap(ones), Bytes.EMPTY, 5, Bytes.wrap(large)));
    for (Compression compression : Compression.values()) {
      CrashableFileStore files = new CrashableFileStore();
      write(files, PATH, options(compression, 512, 10), entries);
      try (SortedFileReader reader = SortedFileReader.open(files, PATH, 1, BlockCache.NONE);
          CellCursor cursor = reader.cursor(true)) {
        SortedFileCheck.check(reader);
        for (CellModel.Entry entry : entries) {
          cursor.seek(entry.key());
          assertEquals(entry, Cursors.entry(cursor));
        }
      }
    }
  }

  @Test
  void manyLargeRowsWithLongCommonPrefixes() throws IOException {
    int count = Seeds.isLong() ? 10_000 : 300;
    List<CellModel.Entry> entries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] row = new byte[64 << 10];
      Arrays.fill(row, (byte) 'x');
      row[row.length - 2] = (byte) (i >> 8);
      row[row.length - 1] = (byte) i;
      entries.add(put(Bytes.wrap(row), Bytes.EMPTY, i, Bytes.EMPTY));
    }
    write(store, PATH, options(Compression.LZ4, 8192, 10), entries);
    try (SortedFileReader reader = open(BlockCache.NONE);
        CellCursor cursor = reader.cursor(true)) {
      assertEquals(count, SortedFileCheck.check(reader).rows());
      for (int i = 0; i < count; i += 37) {
        cursor.seek(KeyCodec.lowerBound(entries.get(i).row()));
        assertArrayEquals(entries.get(i).key(), Cursors.key(cursor));
      }
    }
  }

  @Test
  void samplesCutTheFileEvenly() throws IOException {
    List<CellModel.Entry> all = rows(30_000);
    write(store, PATH, options(Compression.NONE, 64, 0), all);
    try (SortedFileReader reader = open(BlockCache.NONE)) {
      List<Bytes> samples = reader.sampleKeys(9);
      assertEquals(9, samples.size());
      for (int i = 0; i < 9; i++) {
        Bytes sample = samples.get(i);
        long before = all.stream().filter(e -> Bytes.wrap(e.key()).compareTo(sample) < 0).count();
        assertEquals((i + 1) * 3000.0, (double) before, 700.0, "cut " + i);
        double share = (double) reader.approximateOffset(sample.unsafeArray()) / reader.length();
        assertEquals((i + 1) / 10.0, share, 0.05);
      }
      assertTrue(reader.sampleKeys(1_000_000).size() > 1000);
      assertEquals(List.of(), reader.sampleKeys(0));
    }
  }

  @Test
  void theFileIsDurableWhenItIsFinished() throws IOException {
    List<CellModel.Entry> all = rows(100);
    write(store, PATH, options(Compression.LZ4, 512, 10), all);
    store.crash();
    try (SortedFileReader reader = open(BlockCache.NONE)) {
      assertEquals(all, Cursors.entries(reader.cursor(false)));
    }
  }

  @Test
  void failuresOfTheDiskComeOutAndLeakNothing() throws IOException {
    List<CellModel.Entry> all = rows(2000);
    for (Operation operation :
        List.of(Operation.CREATE, Operation.WRITE, Operation.SYNC, Operation.CLOSE)) {
      store.failAt(operation, 1, new IOException("no disk"));
      String path = "failing-" + operation;
      IOException e =
          assertThrows(
              IOException.class, () -> write(store, path, options(Compression.LZ4, 512, 10), all));
      assertTrue(e.getMessage().contains(path), e.getMessage());
      store.assertNoOpenHandles();
    }
    write(store, PATH, options(Compression.LZ4, 512, 10), all);
    for (int nth = 1; nth <= 4; nth++) {
      store.failAt(Operation.READ, nth, new IOException("no disk"));
      assertThrows(IOException.class, () -> open(BlockCache.NONE));
      store.assertNoOpenHandles();
      store.heal();
    }
  }

  @Test
  void aFailedReadIsNotRemembered() throws IOException {
    write(store, PATH, options(Compression.LZ4, 512, 10), rows(2000));
    try (SortedFileReader reader = open(new MapCache())) {
      byte[] key = KeyCodec.lowerBound(Bytes.of("row001000"));
      store.failAt(Operation.READ, 1, new IOException("no disk"));
      try (CellCursor cursor = reader.cursor(true)) {
        assertThrows(IOException.class, () -> cursor.seek(key));
      }
      try (CellCursor cursor = reader.cursor(true)) {
        cursor.seek(key);
        assertEquals("row001000", Cursors.entry(cursor).row().toUtf8());
      }
    }
  }

  @Test
  void anUnfinishedFileIsNoFile() throws IOException {
    try (SortedFileWriter writer =
        SortedFileWriter.create(store, PATH, options(Compression.LZ4, 512, 10))) {
      byte[] key = put("a", "").key();
      writer.add(key, 0, key.length, key, 0, 0);
    }
    assertThrows(IOException.class, () -> open(BlockCache.NONE));
  }

  /** Keeps everything, and says what was asked for. Not thread-safe. */
  static final class MapCache implements BlockCache {
    final Map<String, Block> blocks = new TreeMap<>();
    final Set<String> requested = new HashSet<>();

    @Override
    public Block getIfPresent(Kind kind, long fileId, long offset) {
      requested.add(kind + " " + fileId + " " + offset);
      return blocks.get(kind + " " + fileId + " " + offset);
    }

    @Override
    public Block get(Kind kind, long fileId, long offset, Loader loader) throws IOException {
      Block block = loader.load();
      assertTrue(block.weight() > 0);
      blocks.put(kind + " " + fileId + " " + offset, block);
      return block;
    }
  }
}
