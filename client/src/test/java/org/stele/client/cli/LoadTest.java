package org.stele.client.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.data.Bytes;
import org.stele.core.json.Json;

/** {@code stele load} and {@code stele sample}. */
class LoadTest {
  private final CommandRunner cli = new CommandRunner();

  @TempDir Path folder;

  @BeforeEach
  void createTable() {
    cli.run("table", "create", "t");
  }

  @Test
  void tsvTakesFieldsByteForByte() throws IOException {
    byte[] bytes =
        "id\tname\tx:y:z\nr1\t\"quoted\" it\\x41\t\nr2\t é \tÿ\r\n\nr3\t\t#c".getBytes(UTF_8);
    assertEquals(0, cli.run("load", "t", file("a.tsv", bytes)), cli.err);
    assertTrue(cli.out.startsWith("a.tsv: 3 rows, 6 cells in "), cli.out);
    cli.run("scan", "t");
    assertEquals(
        """
        r1\tf:name\t"quoted" it\\\\x41
        r1\tx:y:z\t
        r2\tf:name\t \\xc3\\xa9\\x20
        r2\tx:y:z\t\\xc3\\xbf
        r3\tf:name\t
        r3\tx:y:z\t#c
        """
            .replace("\\x20", " "),
        cli.out);
  }

  @Test
  void bytesThatAreNoTextSurvive() throws IOException {
    byte[] bytes = new byte[256 + 6];
    byte[] header = "k\tv\nr\t".getBytes(UTF_8);
    System.arraycopy(header, 0, bytes, 0, header.length);
    int length = header.length;
    for (int b = 0; b < 256; b++) {
      if (b != '\t' && b != '\n' && b != '\r') {
        bytes[length++] = (byte) b;
      }
    }
    assertEquals(0, cli.run("load", "t", file("b.tsv", java.util.Arrays.copyOf(bytes, length))));
    Bytes value =
        cli.instance
            .tables
            .get("t")
            .get(Bytes.of("r"))
            .get(Bytes.of("f"))
            .get(Bytes.of("v"))
            .value();
    assertEquals(Bytes.of(bytes, header.length, length - header.length), value);
  }

  @Test
  void csvKnowsQuotes() throws IOException {
    String text = "\uFEFF\"a,b\",key\r\n\"x \"\"y\"\"\nz\",k1\r\n\"\",k2\r\n";
    assertEquals(0, cli.run("load", "t", file("c.csv", text), "--row", "key", "--family", "g"));
    cli.run("scan", "t");
    assertEquals("k1\tg:a,b\tx \"y\"\\x0az\nk2\tg:a,b\t\n", cli.out);
  }

  @Test
  void badLinesAreNamedAndTheRestIsLoaded() throws IOException {
    String text = "k\tv\na\t1\nb\n\t3\nc\t4\td\te\ne\t5\n";
    assertEquals(1, cli.run("load", "t", file("d.tsv", text)));
    assertTrue(cli.err.contains("d.tsv, line 3: 1 fields, and the header names 2\n"), cli.err);
    assertTrue(cli.err.contains("d.tsv, line 4: the row is empty"), cli.err);
    assertTrue(cli.err.contains("d.tsv, line 5: 4 fields, and the header names 2\n"), cli.err);
    assertTrue(cli.err.contains("d.tsv: 3 bad lines were not loaded\n"), cli.err);
    cli.run("scan", "t");
    assertEquals("a\tf:v\t1\ne\tf:v\t5\n", cli.out);
  }

  @Test
  void stopsAtTooManyBadLines() throws IOException {
    String text = "k\tv\n" + "x\n".repeat(100) + "a\t1\n";
    assertEquals(1, cli.run("load", "t", file("e.tsv", text), "--max-bad-lines", "30"));
    assertTrue(cli.err.contains("stopped at 31 bad lines"), cli.err);
    assertEquals(23, cli.err.lines().count(), cli.err);
    cli.run("scan", "t", "--count");
    assertEquals("0 rows, 0 cells\n", cli.out);
  }

  @Test
  void quoteThatIsNotClosedEndsTheFileWithItsLine() throws IOException {
    assertEquals(1, cli.run("load", "t", file("f.csv", "k,v\na,1\nb,\"2\nc,3\n")));
    assertTrue(cli.err.contains("cannot be read"), cli.err);
    assertEquals(1, cli.run("load", "t", file("g.csv", "k,v\na,1\nb,\"2\"x\nc,3\n")));
    assertTrue(cli.err.contains("g.csv, line 3: malformed"), cli.err);
    cli.run("scan", "t");
    assertEquals("a\tf:v\t1\n", cli.out);
  }

  @Test
  void headerProblemsAreNamed() throws IOException {
    assertEquals(1, cli.run("load", "t", file("h.tsv", "")));
    assertTrue(cli.err.contains("the file is empty"), cli.err);
    assertEquals(1, cli.run("load", "t", file("i.tsv", "a\tb\n"), "--row", "c"));
    assertTrue(cli.err.contains("there is no column 'c': the header names a, b"), cli.err);
    assertEquals(1, cli.run("load", "t", file("j.tsv", "a\tb\tf:b\n")));
    assertTrue(cli.err.contains("column 'f:b' twice"), cli.err);
    assertEquals(1, cli.run("load", "t", folder.resolve("none.csv").toString()));
    assertTrue(cli.err.contains("none.csv: no such file or directory"), cli.err);
    assertEquals(1, cli.run("load", "t", folder.toString(), "--format", "csv"));
    assertEquals(1, cli.err.lines().count(), cli.err);
  }

  @Test
  void headerOptionEscapesAndStandardInput() {
    cli.input = "\\x00\\\\\t\\xff\n\\q\t1\n".getBytes(UTF_8);
    assertEquals(
        1, cli.run("load", "t", "-", "--format", "TSV", "--header", "k,v", "--escapes"), cli.err);
    assertTrue(cli.err.contains("line 2: '\\q' has a malformed escape"), cli.err);
    cli.run("scan", "t");
    assertEquals("\\x00\\\\\tf:v\t\\xff\n", cli.out);
  }

  @Test
  void cellsFormatNamesBadLines() {
    cli.input = "a\tf:q\t1\nb\tf\t2\nc\tf:q\nd\tf:q\t\tx\t1\ne\tf:q\tvis\t5\tv\n".getBytes(UTF_8);
    assertEquals(1, cli.run("load", "t", "-", "--format=cells"));
    assertTrue(cli.err.contains("line 2: 'f' is not FAMILY:QUALIFIER"), cli.err);
    assertTrue(cli.err.contains("line 3: 2 fields"), cli.err);
    assertTrue(cli.err.contains("line 4: 'x' is not a timestamp"), cli.err);
    cli.run("scan", "t", "--long");
    assertEquals("a\tf:q\t\t1000\t1\ne\tf:q\tvis\t5\tv\n", cli.out);
  }

  @Test
  void failedRowsFailTheLoad() throws IOException {
    cli.instance.refusedRows.add(Bytes.of("b"));
    assertEquals(1, cli.run("load", "t", file("k.tsv", "k\tv\na\t1\nb\t2\nc\t3\n")));
    assertEquals("stele: 1 mutations failed\n", cli.err);
    assertEquals("", cli.out);
  }

  @Test
  void progressIsShownIfWantedAndJsonIsOneObject() throws IOException {
    String file = file("l.tsv", "k\tv\na\t1\n");
    assertEquals(0, cli.run("load", "t", file, "--progress", "--json"));
    assertTrue(cli.err.contains("l.tsv  100% [###"), cli.err);
    Map<String, Object> summary = Json.parseObject(cli.out);
    assertEquals(1L, summary.get("rows"));
    assertEquals(1L, summary.get("cells"));
    assertEquals(0, cli.run("load", "t", file, "--no-progress"));
    assertEquals("", cli.err);
  }

  @Test
  void sampleHasEveryAssignedCodePoint() {
    assertEquals(0, cli.run("sample", "unicode", "unicode", "--json"), cli.err);
    long assigned =
        java.util.stream.IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
            .filter(Character::isDefined)
            .filter(c -> Character.getType(c) != Character.PRIVATE_USE)
            .filter(c -> Character.getType(c) != Character.SURROGATE)
            .count();
    assertEquals(assigned, Json.parseObject(cli.out).get("rows"));
    if (Runtime.version().feature() == 17) {
      assertEquals(143_924, assigned);
    }
    cli.run("lookup", "unicode", "0000E9", "01F600", "000035");
    assertTrue(cli.out.contains("0000E9\tf:name\tLATIN SMALL LETTER E WITH ACUTE\n"), cli.out);
    assertTrue(cli.out.contains("0000E9\tf:uppercase\t0000C9\n"), cli.out);
    assertTrue(cli.out.contains("0000E9\tf:char\t\\xc3\\xa9\n"), cli.out);
    assertTrue(cli.out.contains("01F600\tf:block\tEMOTICONS\n"), cli.out);
    assertTrue(cli.out.contains("000035\tf:number\t5\n"), cli.out);
    assertTrue(cli.out.contains("000035\tf:category\tNd\n"), cli.out);
    assertTrue(cli.out.contains("000035\tf:script\tCOMMON\n"), cli.out);
  }

  private String file(String name, String text) throws IOException {
    return file(name, text.getBytes(UTF_8));
  }

  private String file(String name, byte[] bytes) throws IOException {
    Path file = folder.resolve(name);
    Files.write(file, bytes);
    return file.toString();
  }
}
