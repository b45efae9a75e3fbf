package org.stele.core.sortedfile;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.stele.core.compression.Compression;
import org.stele.core.data.Bytes;
import org.stele.core.data.CellModel;
import org.stele.core.data.CellType;
import org.stele.core.data.Sequence;
import org.stele.core.file.CrashableFileStore;

/**
 * The worked example of docs/formats/sorted-file.md is what the writer writes; {@code
 * -Dstele.docs.write=true} puts the current dump there.
 */
class SortedFileExampleTest {
  private static final Path PAGE =
      Path.of(System.getProperty("basedir", ""))
          .toAbsolutePath()
          .resolve("../docs/formats/sorted-file.md");
  private static final String BEGIN = "<!-- dump -->\n```\n";
  private static final String END = "```\n<!-- end of dump -->";

  @Test
  void theExampleIsCurrent() throws IOException {
    CrashableFileStore store = new CrashableFileStore();
    store.makeDirectory("tables/7");
    SortedFileTest.write(
        store,
        "tables/7/1a-1.sf",
        SortedFileTest.options(Compression.NONE, 4096, 10),
        List.of(entry("name", 2, CellType.PUT, "Ada"), entry("name", 3, CellType.PUT, "Lady Ada")));
    String dump = dump(store.contents("tables/7/1a-1.sf"));
    String page = Files.readString(PAGE, UTF_8);
    int from = page.indexOf(BEGIN) + BEGIN.length();
    int to = page.indexOf(END);
    if (Boolean.getBoolean("stele.docs.write")) {
      page = page.substring(0, from) + dump + page.substring(to);
      Files.writeString(PAGE, page, UTF_8);
      to = page.indexOf(END);
    }
    assertEquals(
        dump,
        page.substring(from, to),
        "the dump is not current: run this test with -Dstele.docs.write=true");
  }

  private static CellModel.Entry entry(
      String qualifier, long counter, CellType type, String value) {
    return new CellModel.Entry(
        Bytes.of("ada"),
        Bytes.of("p"),
        Bytes.of(qualifier),
        Bytes.EMPTY,
        1000 + counter,
        Sequence.of(1, counter),
        type,
        Bytes.of(value));
  }

  private static String dump(byte[] bytes) {
    StringBuilder dump = new StringBuilder();
    HexFormat hex = HexFormat.ofDelimiter(" ");
    for (int at = 0; at < bytes.length; at += 16) {
      int end = Math.min(bytes.length, at + 16);
      StringBuilder text = new StringBuilder();
      for (int i = at; i < end; i++) {
        text.append(bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char) bytes[i] : '.');
      }
      dump.append(
          String.format("%04x  %-47s  %s%n", at, hex.formatHex(bytes, at, end), text)
              .replace("\r", ""));
    }
    return dump.toString();
  }
}
