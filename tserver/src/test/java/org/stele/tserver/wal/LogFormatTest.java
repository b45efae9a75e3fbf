package org.stele.tserver.wal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.tserver.wal.LogTesting.DIRECTORY;
import static org.stele.tserver.wal.LogTesting.options;
import static org.stele.tserver.wal.LogTesting.path;
import static org.stele.tserver.wal.LogTesting.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.stele.core.data.ByteReader;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellType;
import org.stele.core.data.Durability;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Sequence;
import org.stele.core.data.WriterStamp;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.time.Clock;
import org.stele.tserver.wal.ExtentIndex.Extent;
import org.stele.tserver.wal.ExtentIndex.Stay;
import org.stele.tserver.wal.LogHeader.Predecessor;
import org.stele.tserver.wal.LogHeader.UnsupportedLogException;

/** The bytes of a log are those of docs/formats/write-ahead-log.md. */
class LogFormatTest {
  private static final Path DOCUMENT = Path.of("../docs/formats/write-ahead-log.md");

  private static final class ExampleEntry implements LogEntry {
    @Override
    public int sizeHint() {
      return 100;
    }

    @Override
    public Durability durability() {
      return Durability.SYNC;
    }

    @Override
    public boolean place() {
      return true;
    }

    @Override
    public long epoch() {
      return 1;
    }

    @Override
    public String tabletId() {
      return "t1";
    }

    @Override
    public long firstSequence() {
      return Sequence.of(1, 1);
    }

    @Override
    public long lastSequence() {
      return Sequence.of(1, 1);
    }

    @Override
    public WriterStamp writer() {
      return new WriterStamp(9, 2, 1);
    }

    @Override
    public long serverTime() {
      return 5;
    }

    @Override
    public void encode(ByteWriter out) {
      byte[] key =
          KeyCodec.encode(
              Bytes.of("ada"),
              Bytes.of("name"),
              Bytes.of("full"),
              Bytes.EMPTY,
              5,
              firstSequence(),
              CellType.PUT);
      byte[] value = Bytes.of("Ada").unsafeArray();
      LogCells.write(out, key, 0, key.length, value, 0, value.length);
    }

    @Override
    public void committed() {}

    @Override
    public void failed(Exception cause) {
      throw new AssertionError(cause);
    }
  }

  @Test
  void theExampleOfTheDocumentIsWhatIsWritten() throws IOException {
    CrashableFileStore store = LogTesting.newStore();
    GroupCommitLog log =
        GroupCommitLog.withoutThreads(
            store,
            new GroupCommitLog.Options(
                DIRECTORY, "demo", "5a", "", 1 << 20, 1 << 20, options(1).closeTimeout()),
            Clock.system(),
            () -> 0x0102030405060708L,
            broken -> {});
    log.append(new ExampleEntry());
    run(log);
    log.close();
    HexFormat hex = HexFormat.ofDelimiter(" ");
    String written = hex.formatHex(store.contents(path(1)));
    assertEquals(documented(), written);
  }

  /** The middle column of the hex block, as one line. */
  private static String documented() throws IOException {
    List<String> bytes = new ArrayList<>();
    boolean inBlock = false;
    for (String line : Files.readAllLines(DOCUMENT)) {
      if (line.startsWith("```")) {
        inBlock = line.equals("```hex");
      } else if (inBlock) {
        bytes.add(line.substring(6, line.indexOf('|')).strip());
      }
    }
    return String.join(" ", bytes);
  }

  private static LogHeader header(Map<String, Long> tablets) {
    return new LogHeader(
        0,
        77,
        5,
        3,
        "i",
        "s",
        List.of(new Predecessor(3, 10, 20), new Predecessor(4, 30, 40)),
        tablets);
  }

  @Test
  void headersComeBackAsTheyWere() throws IOException {
    for (Map<String, Long> tablets :
        Arrays.<Map<String, Long>>asList(Map.of(), Map.of("a", 1L), null)) {
      byte[] bytes = LogHeader.encode(header(tablets));
      LogHeader read = LogHeader.decode("f", bytes);
      assertEquals(bytes.length, read.length());
      assertEquals(header(tablets).predecessors(), read.predecessors());
      assertEquals(tablets, read.tablets());
      assertEquals(5, read.number());
      assertEquals(3, read.lowestLive());
      bytes[20] ^= 1;
      assertNull(LogHeader.decode("f", bytes));
    }
  }

  @Test
  void newerVersionsAndFeaturesAreRefusedByName() throws IOException {
    for (int offset : new int[] {9, 21}) {
      byte[] bytes = LogHeader.encode(header(Map.of()));
      bytes[offset] = 7;
      CRC32C crc = new CRC32C();
      crc.update(bytes, 0, bytes.length - 4);
      ByteWriter.putInt(bytes, bytes.length - 4, (int) crc.getValue());
      CrashableFileStore store = LogTesting.newStore();
      store.setContents(path(5), bytes);
      UnsupportedLogException e =
          assertThrows(UnsupportedLogException.class, () -> LogDirectory.read(store, DIRECTORY));
      assertTrue(e.getMessage().contains(path(5)), e.getMessage());
    }
  }

  @Test
  void anIndexStaysSmallHoweverManyRecordsThereAre() {
    ExtentIndex index = new ExtentIndex();
    int tablets = 50;
    for (int i = 0; i < 300_000; i++) {
      long start = 100 + 200L * i;
      index.add("t" + i % tablets, 1, new Extent(start, start + 200, i, i));
    }
    assertTrue(index.size() <= ExtentIndex.MAX_EXTENTS, index.size() + " extents");
    ByteWriter out = new ByteWriter();
    index.encode(out);
    ExtentIndex read =
        ExtentIndex.decode(new ByteReader(out.toByteArray()), 100, 100 + 300_000 * 200L);
    assertEquals(index.size(), read.size());
    for (int tablet = 0; tablet < tablets; tablet++) {
      Stay stay = new Stay("t" + tablet, 1);
      assertEquals(index.extents(stay), read.extents(stay));
      // Each of its records is in one of its extents.
      int at = 0;
      List<Extent> extents = read.extents(stay);
      for (int i = tablet; i < 300_000; i += tablets) {
        long start = 100 + 200L * i;
        while (extents.get(at).end() <= start) {
          at++;
        }
        assertTrue(extents.get(at).start() <= start && start + 200 <= extents.get(at).end());
      }
    }
  }
}
