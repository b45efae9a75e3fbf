package org.stele.test.cases;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.DataLimits;
import org.stele.core.data.Mutation;
import org.stele.test.check.TestForm;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * The command line with bytes that are no text, and what scripts rely on: data on standard output
 * alone, messages on standard error alone, exit code 0 only if all was done.
 */
class CommandLineIT {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int LONG_SCAN_ROWS = 20_000;
  private static final String LONG_TABLE = "long";

  @TempDir private static Path directory;

  private static StandaloneServer server;
  private static SteleClient client;

  @BeforeAll
  static void start() {
    server = StandaloneServer.started(directory.resolve("data"), Map.of());
    client = server.client();
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
    server.close();
  }

  private static byte[] oneByte(int b) {
    return new byte[] {(byte) b};
  }

  /** All bytes in one, with every byte that means something to a shell or a parser. */
  private static byte[] allBytes() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    return all;
  }

  private static String escaped(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) {
      text.append(String.format("\\x%02x", b));
    }
    return text.toString();
  }

  /** Runs a line of bash, which is given byte for byte; {@code $0} in it is the script. */
  private static CommandResult bash(Map<String, String> environment, String line) {
    Map<String, String> all = new TreeMap<>(environment);
    all.put("STELE_DIR", server.directory().toString());
    all.put("STELE_CONNECT", "");
    return Commands.run(
        Path.of("/"),
        all,
        new byte[0],
        LIMIT,
        List.of("bash", "-c", line, Installation.shared().script().toString()));
  }

  private static List<Cell> cells(String table) {
    List<Cell> cells = new ArrayList<>();
    try (Scanner scanner = client.scanner(table).open()) {
      scanner.forEach(cells::add);
    }
    return cells;
  }

  /** What scan prints is what load reads, for each byte as a row, a column and a value. */
  @Test
  void outputReadAgainGivesEqualBytes() {
    StringBuilder lines = new StringBuilder();
    for (int b = 0; b < 256; b++) {
      String text = escaped(oneByte(b));
      lines.append(text).append('\t').append("fam\\x3aily").append(text).append(':');
      lines.append(text).append(":\t").append(text).append("end\n");
    }
    byte[] input = lines.toString().getBytes(UTF_8);
    server.environment("LC_ALL", "C");
    server.stele(input, "load", "bytes", "-", "--format", "cells", "--create").orFail();
    byte[] printed = server.stele("scan", "bytes").orFail().stdout();
    server.environment("LC_ALL", "C.UTF-8");
    server.stele(printed, "load", "again", "-", "--format", "cells", "--create").orFail();
    for (String table : List.of("bytes", "again")) {
      List<Cell> cells = cells(table);
      assertEquals(256, cells.size());
      for (int b = 0; b < 256; b++) {
        Cell cell = cells.get(b);
        byte[] one = oneByte(b);
        assertEquals(Bytes.wrap(one), cell.row());
        assertEquals(Bytes.wrap(joined("fam:ily".getBytes(UTF_8), one)), cell.family());
        assertEquals(Bytes.wrap(joined(one, ":".getBytes(UTF_8))), cell.qualifier());
        assertEquals(Bytes.wrap(joined(one, "end".getBytes(UTF_8))), cell.value());
      }
    }
    server.environment("LC_ALL", "");
  }

  private static byte[] joined(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }

  /** As a shell gives them: UTF-8 or not, with all that quoting is good for. */
  @Test
  void argumentsAreTakenByteForByte() {
    client.tables().create("arguments");
    String raw = "$'tab\\t newline\\n quote\\x27\" \\xc3\\xbc \\xff : \\x01 $HOME *'";
    byte[] bytes =
        "tab\t newline\n quote'\" \u00c3\u00bc \u00ff : \u0001 $HOME *".getBytes(ISO_8859_1);
    String all = escaped(allBytes());
    bash(Map.of("LC_ALL", "C"), "exec \"$0\" put arguments " + raw + " f:q " + raw).orFail();
    assertEquals(
        Bytes.wrap(bytes),
        client.lookup("arguments", Bytes.wrap(bytes)).get(Bytes.of("f"), Bytes.of("q")));
    server.stele("put", "arguments", all, "f:" + all, all).orFail();
    CommandResult lookup =
        bash(Map.of("LANG", "C.UTF-8"), "exec \"$0\" lookup arguments " + raw + " '" + all + "'");
    assertEquals(2, lookup.orFail().lines().size(), lookup::toString);
    bash(Map.of("LC_ALL", "C"), "exec \"$0\" delete arguments " + raw).orFail();
    List<Cell> left = cells("arguments");
    assertEquals(1, left.size());
    assertEquals(Bytes.wrap(allBytes()), left.get(0).row());
    assertEquals(Bytes.wrap(allBytes()), left.get(0).qualifier());
    assertEquals(Bytes.wrap(allBytes()), left.get(0).value());
    if (TestForm.LONG) {
      eachByteAsAnArgument();
    }
  }

  private static void eachByteAsAnArgument() {
    client.tables().create("each");
    for (int b = 1; b < 256; b++) {
      if (b == '\\') {
        continue; // alone it is a malformed escape, which is wrong usage
      }
      bash(
              Map.of("LC_ALL", "C"),
              "exec \"$0\" put -- each $'\\x%02x' f:q $'\\x%02x'".formatted(b, b))
          .orFail();
    }
    List<Cell> cells = cells("each");
    assertEquals(254, cells.size());
    assertEquals(Bytes.wrap(oneByte(0xff)), cells.get(253).row());
    assertEquals(Bytes.wrap(oneByte(0xff)), cells.get(253).value());
  }

  @Test
  void splitsAreReadAsTheyWerePrinted() {
    List<Bytes> splits =
        List.of(Bytes.wrap(oneByte(0)), Bytes.of(",\\"), Bytes.wrap(oneByte(0xff)));
    client.tables().create("split", TableOptions.defaults().withSplits(splits));
    byte[] printed = server.stele("table", "splits", "split").orFail().stdout();
    server.stele(printed, "table", "create", "split.again", "--splits-file", "/dev/stdin").orFail();
    assertEquals(splits, client.tables().splits("split.again"));
  }

  private static void assertFails(CommandResult result, String... named) {
    assertEquals(1, result.exitCode(), result::toString);
    assertEquals("", result.out(), result::toString);
    assertEquals(1, result.err().lines().count(), result::toString);
    assertTrue(result.err().startsWith("stele: "), result::toString);
    for (String name : named) {
      assertTrue(result.err().contains(name), () -> name + " is not named by " + result);
    }
  }

  /** Commands on a table; the first is enough for the short form. */
  private static List<List<String>> commandsOn(String table) {
    List<List<String>> commands =
        List.of(
            List.of("scan", table),
            List.of("put", table, "row", "f:q", "v"),
            List.of("table", "flush", table),
            List.of("lookup", table, "row"),
            List.of("delete", table, "row"),
            List.of("table", "compact", table),
            List.of("table", "splits", table),
            List.of("table", "delete", table),
            List.of("scan", table, "--count"));
    return commands.subList(0, TestForm.count(1, commands.size()));
  }

  @Test
  void aTableThatIsNotThereIsNamed() {
    for (List<String> command : commandsOn("no.such.table")) {
      assertFails(server.stele(command.toArray(String[]::new)), "no.such.table");
    }
  }

  @Test
  void aServerThatIsNotThereIsNamed() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    String connect = "127.0.0.1:" + port;
    for (List<String> command : commandsOn("table")) {
      List<String> with = new ArrayList<>(List.of("--connect", connect, "--timeout", "1s"));
      with.addAll(command);
      assertFails(server.stele(with.toArray(String[]::new)), connect);
    }
  }

  @Test
  void whatWasNotWrittenIsNamedAndTheRestIsWritten() {
    client.tables().create("partly");
    String tooLong = "r".repeat(DataLimits.MAX_KEY_BYTES + 1);
    byte[] input =
        ("row\tf:a\ngood\t1\nbad\t2\ttoo many\n" + tooLong + "\t3\nalso good\t4\n").getBytes(UTF_8);
    CommandResult result = server.stele(input, "load", "partly", "-", "--format", "tsv");
    assertEquals(1, result.exitCode(), result::toString);
    assertTrue(result.err().contains("line 3"), result::toString);
    assertTrue(result.err().lines().allMatch(line -> line.startsWith("stele: ")), result::toString);
    assertEquals(
        List.of("also good", "good"),
        cells("partly").stream().map(cell -> cell.row().toUtf8()).toList());
  }

  @Test
  void aReaderThatLeavesEndsTheScanQuietly() {
    client.tables().create(LONG_TABLE, TableOptions.defaults().withSplits(List.of(Bytes.of("r5"))));
    try (BatchWriter writer = client.batchWriter(LONG_TABLE)) {
      for (int i = 0; i < LONG_SCAN_ROWS; i++) {
        writer.add(Mutation.of("r" + i).put("f", "q", "a value that takes some room"));
      }
    }
    CommandResult head =
        bash(Map.of(), "\"$0\" scan " + LONG_TABLE + " | head -n 1; exit ${PIPESTATUS[0]}");
    assertEquals("", head.err());
    assertEquals(1, head.lines().size(), head::toString);
    assertTrue(head.exitCode() != 0, "not all was printed");
    if (TestForm.LONG) {
      CommandResult full = bash(Map.of(), "exec \"$0\" scan " + LONG_TABLE + " > /dev/full");
      assertFails(full, "cannot write to standard output", "No space left");
    }
    CommandResult closed = bash(Map.of(), "exec \"$0\" scan " + LONG_TABLE + " >&-");
    assertFails(closed, "cannot write to standard output");
  }
}
