package org.stele.core.sortedfile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.stele.core.Seeds;
import org.stele.core.compression.Compression;
import org.stele.core.cursor.CellCursor;
import org.stele.core.cursor.Cursors;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.CellModel;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.data.RandomEntries;
import org.stele.core.file.CorruptFileException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.UnsupportedFormatException;

/**
 * Damage is an error that names file and offset, or changes nothing; it is never a wrong answer.
 */
class SortedFileDamageTest {
  private static final String PATH = "damaged.sf";

  private final CrashableFileStore store = new CrashableFileStore();

  private static List<CellModel.Entry> sorted(List<CellModel.Entry> entries) {
    return entries.stream().sorted((a, b) -> Arrays.compareUnsigned(a.key(), b.key())).toList();
  }

  /** Reads the file in every way; null if it was found damaged. */
  private List<CellModel.Entry> readAll(List<CellModel.Entry> written) throws IOException {
    try (SortedFileReader reader = SortedFileReader.open(store, PATH, 1, BlockCache.NONE)) {
      boolean damaged = false;
      for (CellModel.Entry entry : written) {
        damaged |= lookUp(reader, entry);
      }
      try (CellCursor cursor = reader.cursor(false)) {
        List<CellModel.Entry> all = Cursors.entries(cursor);
        return damaged ? null : all;
      }
    } catch (CorruptFileException e) {
      assertEquals(PATH, e.file());
      assertTrue(e.offset() >= 0);
      return null;
    } finally {
      store.assertNoOpenHandles();
    }
  }

  /** Whether damage was met. */
  private static boolean lookUp(SortedFileReader reader, CellModel.Entry entry) throws IOException {
    byte[] key = entry.key();
    try (CellCursor cursor = reader.cursor(true)) {
      assertTrue(reader.mayContainRow(key, KeyCodec.partLength(key, 0, key.length)));
      cursor.seek(key);
      assertEquals(entry, Cursors.entry(cursor));
      cursor.seekBefore(key);
      return false;
    } catch (CorruptFileException e) {
      return true;
    }
  }

  private void checkIsDamaged(String what) throws IOException {
    try (SortedFileReader reader = SortedFileReader.open(store, PATH, 1, BlockCache.NONE)) {
      SortedFileCheck.check(reader);
      fail(what + " was not found");
    } catch (CorruptFileException e) {
      assertEquals(PATH, e.file());
    }
    store.assertNoOpenHandles();
  }

  private List<CellModel.Entry> writeSmallFile(Compression compression) throws IOException {
    List<CellModel.Entry> entries = sorted(new RandomEntries(new Random(5), true).history(60, 1));
    SortedFileTest.write(store, PATH, SortedFileTest.options(compression, 128, 10), entries);
    return entries;
  }

  @Test
  void everyFlippedByteIsFound() throws IOException {
    for (Compression compression : Compression.values()) {
      store.delete(PATH);
      List<CellModel.Entry> written = writeSmallFile(compression);
      byte[] whole = store.contents(PATH);
      assertEquals(written, readAll(written));
      for (int offset = 0; offset < whole.length; offset++) {
        int[] masks =
            Seeds.isLong()
                ? new int[] {1, 2, 4, 8, 16, 32, 64, 128, 255}
                : new int[] {1 << (offset & 7), 255};
        for (int mask : masks) {
          store.flip(PATH, offset, mask);
          String where = compression + ", offset " + offset + ", mask " + mask;
          if (mask == 255) {
            List<CellModel.Entry> read = readAll(written);
            assertTrue(read == null || read.equals(written), where);
          }
          checkIsDamaged(where);
          store.flip(PATH, offset, mask);
        }
      }
    }
  }

  @Test
  void everyTruncationIsFound() throws IOException {
    List<CellModel.Entry> written = writeSmallFile(Compression.LZ4);
    byte[] whole = store.contents(PATH);
    for (int length = 0; length < whole.length; length++) {
      store.setContents(PATH, Arrays.copyOf(whole, length));
      assertEquals(null, readAll(written), length + " bytes");
    }
  }

  @Test
  void bytesBehindTheEndAreFound() throws IOException {
    List<CellModel.Entry> written = writeSmallFile(Compression.LZ4);
    byte[] whole = store.contents(PATH);
    store.setContents(PATH, Arrays.copyOf(whole, whole.length + 1));
    assertEquals(null, readAll(written));
    ByteWriter twice = new ByteWriter();
    twice.writeBytes(whole).writeBytes(whole);
    store.setContents(PATH, twice.toByteArray());
    assertEquals(null, readAll(written));
  }

  @Test
  void swappedBlocksAreFound() throws IOException {
    List<CellModel.Entry> entries = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      entries.add(SortedFileTest.put("row" + (100 + i), "value"));
    }
    SortedFileTest.write(store, PATH, SortedFileTest.options(Compression.NONE, 200, 10), entries);
    byte[] whole = store.contents(PATH);
    List<BlockInfo> data = dataBlocks(PATH);
    int swaps = 0;
    for (int i = 0; i < data.size(); i++) {
      for (int j = i + 1; j < data.size(); j++) {
        if (data.get(i).storedBytes() == data.get(j).storedBytes()) {
          swaps++;
          store.setContents(PATH, swap(whole, data.get(i), data.get(j)));
          checkIsDamaged("a swap of blocks " + i + " and " + j);
          assertEquals(null, readAll(entries));
        }
      }
    }
    assertTrue(swaps > 5, swaps + " swaps");
  }

  private List<BlockInfo> dataBlocks(String path) throws IOException {
    List<BlockInfo> data = new ArrayList<>();
    try (SortedFileReader reader = SortedFileReader.open(store, path, 1, BlockCache.NONE)) {
      SortedFileCheck.visitBlocks(
          reader,
          block -> {
            if (block.kind() == BlockInfo.Kind.DATA) {
              data.add(block);
            }
          });
    }
    return data;
  }

  private static byte[] swap(byte[] whole, BlockInfo a, BlockInfo b) {
    byte[] swapped = whole.clone();
    System.arraycopy(whole, (int) b.offset(), swapped, (int) a.offset(), a.storedBytes());
    System.arraycopy(whole, (int) a.offset(), swapped, (int) b.offset(), a.storedBytes());
    return swapped;
  }

  @Test
  void aBlockOfAnotherFileIsFound() throws IOException {
    writeSmallFile(Compression.NONE);
    List<CellModel.Entry> entries = sorted(new RandomEntries(new Random(5), true).history(60, 1));
    SortedFileTest.write(
        store, "other.sf", SortedFileTest.options(Compression.NONE, 128, 10), entries);
    byte[] mixed = store.contents(PATH);
    int length = dataBlocks("other.sf").get(0).storedBytes();
    System.arraycopy(store.contents("other.sf"), 0, mixed, 0, length);
    store.setContents(PATH, mixed);
    checkIsDamaged("the start of another file");
  }

  @Test
  void randomDamageNeverGivesAWrongAnswer() {
    Seeds.run(
        300,
        random -> {
          CrashableFileStore files = store;
          files.delete(PATH);
          List<CellModel.Entry> written =
              sorted(new RandomEntries(random, true).history(1 + random.nextInt(100), 1));
          SortedFileTest.write(files, PATH, SortedFileTest.options(random), written);
          byte[] damaged = files.contents(PATH);
          int from = random.nextInt(damaged.length);
          int to = Math.min(damaged.length, from + 1 + random.nextInt(64));
          for (int i = from; i < to; i++) {
            damaged[i] = (byte) random.nextInt();
          }
          files.setContents(PATH, damaged);
          List<CellModel.Entry> read = readAll(written);
          assertTrue(read == null || read.equals(written));
        });
  }

  @Test
  void theRepairedFileIsReadAgain() throws IOException {
    List<CellModel.Entry> written = writeSmallFile(Compression.LZ4);
    try (SortedFileReader reader =
        SortedFileReader.open(store, PATH, 1, new SortedFileTest.MapCache())) {
      store.flip(PATH, 20, 1);
      for (int i = 0; i < 3; i++) {
        try (CellCursor cursor = reader.cursor(true)) {
          CorruptFileException e =
              assertThrows(CorruptFileException.class, () -> cursor.seek(new byte[0]));
          assertEquals(0, e.offset());
        }
      }
      store.flip(PATH, 20, 1);
      try (CellCursor cursor = reader.cursor(true)) {
        assertEquals(written, Cursors.entries(cursor));
      }
    }
  }

  @Test
  void newerVersionsAndFeaturesAreRefusedByName() throws IOException {
    writeSmallFile(Compression.LZ4);
    byte[] whole = store.contents(PATH);
    store.setContents(PATH, withFooter(whole, SortedFileFormat.FOOTER_VERSION + 1, 2));
    UnsupportedFormatException version =
        assertThrows(
            UnsupportedFormatException.class,
            () -> SortedFileReader.open(store, PATH, 1, BlockCache.NONE));
    assertTrue(version.getMessage().contains("version 2"), version.getMessage());
    assertTrue(version.getMessage().contains(PATH), version.getMessage());
    store.setContents(PATH, withFooter(whole, SortedFileFormat.FOOTER_FEATURES + 7, 1 << 3));
    UnsupportedFormatException feature =
        assertThrows(
            UnsupportedFormatException.class,
            () -> SortedFileReader.open(store, PATH, 1, BlockCache.NONE));
    assertTrue(feature.getMessage().contains("feature 3"), feature.getMessage());
    store.assertNoOpenHandles();
  }

  /** The file with one byte of its footer changed and the footer's checksum made right. */
  private static byte[] withFooter(byte[] whole, int field, int value) {
    byte[] changed = whole.clone();
    int footer = whole.length - SortedFileFormat.FOOTER_LENGTH;
    changed[footer + field] = (byte) value;
    int checksum =
        SortedFileFormat.footerChecksum(
            changed,
            footer,
            SortedFileFormat.FOOTER_CHECKSUM,
            changed,
            footer + SortedFileFormat.FOOTER_LENGTH_FIELD,
            SortedFileFormat.FOOTER_TAIL - 4);
    ByteWriter.putInt(changed, footer + SortedFileFormat.FOOTER_CHECKSUM, checksum);
    return changed;
  }

  @Test
  void payloadsThatAreNoBlocksAreRefused() {
    Seeds.run(
        2000,
        random -> {
          byte[] payload = new byte[random.nextInt(200)];
          random.nextBytes(payload);
          if (payload.length >= 4 && random.nextBoolean()) {
            ByteWriter.putInt(payload, payload.length - 4, random.nextInt(4));
          }
          try {
            EntryBlock block = new EntryBlock(payload, 0);
            assertTrue(block.entryCount <= payload.length);
          } catch (MalformedBytesException e) {
            assertTrue(e.getMessage() != null);
          }
          try {
            SortedFileProperties.decode(payload);
            fail("random bytes are no properties");
          } catch (MalformedBytesException e) {
            assertTrue(new ByteReader(payload).remaining() == payload.length);
          }
        });
  }
}
