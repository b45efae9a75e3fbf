package org.stele.client.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.core.json.Json;

/** Options, exit codes, messages and output of the commands on data. */
class CommandLineTest {
  private final CommandRunner cli = new CommandRunner();

  @AfterEach
  void sessionsAreClosed() {
    assertEquals(0, cli.instance.openSessions);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "put t r",
        "put t r f v",
        "put t r f:q \\x1",
        "put t r f:q v --nonsense",
        "put t r f:q v --hex",
        "lookup t",
        "scan t --limit -1",
        "scan t --limit x",
        "scan t --start b --stop a",
        "scan t --prefix \\q",
        "scan --timeout 5 t",
        "scan --timeout 5parsecs t",
        "table",
        "table nonsense",
        "table create",
        "table create t --splits a,,b",
        "load t",
        "load t file-of-unknown.type",
        "load t x.csv --format xml",
        "sample",
        "--connect zk:1 --dir d status",
        "--connect zk:1/ scan t",
        "--connect /a scan t",
        "start --connect zk:1",
        "start --dir d --port -1",
        "start --dir d --port 65536",
        "start --dir d --set no.such.setting=1",
        "start --dir d --set wal.size=1parsec",
        "restart --port x",
        "scan t --start-exclusive",
        "scan t --stop-inclusive",
        "scan t --timeout 0s",
        "load t x.csv --max-bad-lines -1",
        "load t - --format cells --row r",
        "table create t --splits a,\\x",
        "--dir= scan t",
        "start --dir=",
        "status --dir="
      })
  void wrongUsageIsTwoWithOneLineAndAHint(String line) {
    int exitCode = cli.run(line.isEmpty() ? new String[0] : line.split(" "));
    assertEquals(2, exitCode, cli.err);
    assertTrue(cli.err.startsWith("stele: "), cli.err);
    assertTrue(cli.err.lines().count() <= 3, cli.err);
    assertFalse(cli.err.contains("\tat "), cli.err);
    assertFalse(cli.err.contains("org.stele."), cli.err);
    assertFalse(cli.err.contains("Bound["), cli.err);
    assertEquals("", cli.out);
  }

  @Test
  void anEmptyRowIsWrongUsage() {
    for (List<String> command :
        List.of(
            List.of("lookup", "t", ""),
            List.of("put", "t", "", "f:q", "v"),
            List.of("delete", "t", ""),
            List.of("scan", "t", "--row="))) {
      assertEquals(2, cli.run(command.toArray(String[]::new)), command + ": " + cli.err);
      assertTrue(cli.err.contains("row"), cli.err);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "put missing r f:q v",
        "delete missing r",
        "lookup missing r",
        "scan missing",
        "scan missing --count",
        "table delete missing",
        "table splits missing",
        "table flush missing",
        "table compact missing"
      })
  void unknownTableIsOneAndNamed(String line) {
    assertEquals(1, cli.run(line.split(" ")));
    assertEquals("stele: there is no table missing\n", cli.err);
    assertEquals("", cli.out);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "put t r f:q v",
        "lookup t r",
        "scan t",
        "table create t",
        "table list",
        "sample unicode t",
        "settings",
        "status"
      })
  void unreachableInstanceIsOneAndNamed(String line) {
    cli.instance.down = true;
    assertEquals(1, cli.run(line.split(" ")));
    String message = cli.err + cli.out;
    assertTrue(message.contains("ZooKeeper at zk:1 does not answer"), message);
    assertFalse(message.contains("\tat "), message);
  }

  @Test
  void anErrorOfTheVirtualMachineIsOneLineToo() {
    assertEquals(0, cli.run("table", "create", "t"));
    cli.output =
        new OutputStream() {
          @Override
          public void write(int b) {
            throw new OutOfMemoryError("unable to create native thread");
          }
        };
    assertEquals(1, cli.run("table", "list"));
    assertTrue(cli.err.startsWith("stele: no more threads: "), cli.err);
    assertEquals(1, cli.err.lines().count(), cli.err);
  }

  @Test
  void startTellsWhyTheVirtualMachineDidNotStart(@TempDir Path directory) throws IOException {
    assertStartTells(
        directory,
        """
        Invalid maximum heap size: -Xmx1x
        Error: Could not create the Java Virtual Machine.
        Error: A fatal exception has occurred. Program will exit.
        """,
        "Invalid maximum heap size: -Xmx1x");
  }

  @Test
  void startTellsWhyTheVirtualMachineCrashed(@TempDir Path directory) throws IOException {
    assertStartTells(
        directory,
        """
        [0.017s][warning][os,thread] Failed to start thread "GC Thread#0" - pthread_create failed (EAGAIN)
        #
        # There is insufficient memory for the Java Runtime Environment to continue.
        # Cannot create worker GC thread. Out of system resources.
        # An error report file with more information is saved as:
        # /data/logs/hs_err_pid4362.log
        """,
        "There is insufficient memory for the Java Runtime Environment to continue."
            + " Cannot create worker GC thread. Out of system resources."
            + " (see /data/logs/hs_err_pid4362.log)");
    assertStartTells(
        directory,
        """
        #
        # A fatal error has been detected by the Java Runtime Environment:
        #
        #  SIGSEGV (0xb) at pc=0x00007f5a8c4b2e70, pid=7, tid=8
        #
        # JRE version: OpenJDK Runtime Environment (17.0.15+6)
        # Problematic frame:
        # C  [libc.so.6+0x3ce70]
        #
        # An error report file with more information is saved as:
        # /data/logs/hs_err_pid7.log
        #
        # If you would like to submit a bug report, please visit:
        #   https://bugreport.java.com/bugreport/crash.jsp
        #
        """,
        "A fatal error has been detected by the Java Runtime Environment:"
            + " SIGSEGV (0xb) at pc=0x00007f5a8c4b2e70, pid=7, tid=8"
            + " (see /data/logs/hs_err_pid7.log)");
  }

  /** Starts a server whose virtual machine ends with these words. */
  private void assertStartTells(Path directory, String lastWords, String cause) throws IOException {
    Path script = Files.createDirectories(directory.resolve("bin")).resolve("stele");
    Files.writeString(script, "#!/bin/sh\ncat <<'WORDS'\n" + lastWords + "WORDS\nexit 1\n");
    assertTrue(script.toFile().setExecutable(true));
    cli.home = directory;
    cli.environment.remove("STELE_CONNECT");
    assertEquals(1, cli.run("start", "--dir", directory.resolve("data").toString()));
    assertEquals("stele: the server did not start: " + cause + "\n", cli.err);
  }

  @Test
  void stopAsksAgainIfTheSignalWasLost(@TempDir Path directory) throws IOException {
    // Plays a server that misses the first signal.
    Process server =
        new ProcessBuilder(
                "bash",
                "-c",
                "exec 9>lock; trap 'trap \"exit 0\" TERM' TERM;"
                    + " echo $$ >pid.next; mv pid.next stele.pid; while :; do read -t 0.1; done")
            .directory(directory.toFile())
            .start();
    try {
      await().until(() -> Files.exists(directory.resolve("stele.pid")));
      cli.environment.remove("STELE_CONNECT");
      assertEquals(0, cli.run("stop", "--dir", directory.toString()), cli.err);
      assertFalse(server.isAlive());
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void stackTraceOnlyWithDebug() {
    assertEquals(1, cli.run("scan", "missing", "--debug"));
    assertTrue(cli.err.contains("\tat org.stele"), cli.err);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--help", "scan --help", "table create --help", "start --help", "-h"})
  void helpGoesToOutput(String line) {
    assertEquals(0, cli.run(line.split(" ")));
    assertTrue(cli.out.startsWith("Usage: stele"), cli.out);
    assertTrue(cli.out.contains("--connect"), cli.out);
    assertEquals("", cli.err);
  }

  @Test
  void versionIsPrinted() {
    assertEquals(0, cli.run("--version"));
    assertTrue(cli.out.startsWith("stele "), cli.out);
  }

  @Test
  void allOneByteRowsRoundTripThroughArgumentsAndOutput() {
    cli.run("table", "create", "t");
    List<String> lookup = new ArrayList<>(List.of("lookup", "t", "--hex"));
    StringBuilder found = new StringBuilder();
    for (int b = 0; b < 256; b++) {
      String escaped = String.format("\\x%02x", b);
      String hex = String.format("%02x", b);
      assertEquals(0, cli.run("put", "t", escaped, "f" + escaped + ":q" + escaped, escaped));
      lookup.add(hex);
      found.append(hex + "\t66" + hex + ":71" + hex + "\t" + hex + "\n");
    }
    assertEquals(0, cli.run(lookup.toArray(String[]::new)));
    assertEquals(found.toString(), cli.out);
    assertEquals(0, cli.run("scan", "t", "--count"));
    assertEquals("256 rows, 256 cells\n", cli.out);

    assertEquals(0, cli.run("scan", "t"));
    String printed = cli.out;
    lookup = new ArrayList<>(List.of("lookup", "t", "--"));
    for (String line : printed.lines().toList()) {
      lookup.add(line.split("\t", -1)[0]);
    }
    assertEquals(0, cli.run(lookup.toArray(String[]::new)), cli.err);
    assertEquals(printed, cli.out);
    cli.input = printed.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    assertEquals(0, cli.run("load", "t2", "-", "--format", "cells", "--create"), cli.err);
    cli.run("scan", "t2");
    assertEquals(printed, cli.out);

    for (String line : printed.lines().toList()) {
      String row = line.split("\t", -1)[0];
      assertEquals(0, cli.run("delete", "t", "--", row));
    }
    cli.run("scan", "t", "--count");
    assertEquals("0 rows, 0 cells\n", cli.out);
  }

  @Test
  void nothingFoundPrintsNothing() {
    cli.run("table", "create", "t");
    assertEquals(0, cli.run("lookup", "t", "nobody", "none"));
    assertEquals("", cli.out);
    assertEquals("", cli.err);
  }

  @Test
  void lookupTakesRowsAndColumns() {
    fill();
    assertEquals(0, cli.run("lookup", "t", "b", "a", "-c", "f:q", "--column", "g"));
    assertEquals("b\tf:q\t3\nb\tg:q\t4\na\tf:q\t1\na\tg:q\t2\n", cli.out);
    assertEquals(0, cli.run("lookup", "t", "a", "-c", "g"));
    assertEquals("a\tg:q\t2\n", cli.out);
  }

  @Test
  void scanTakesRangesColumnsAndLimits() {
    fill();
    assertEquals(List.of("b", "c"), rowsOf("--start", "b"));
    assertEquals(List.of("c"), rowsOf("--start", "b", "--start-exclusive"));
    assertEquals(List.of("a"), rowsOf("--stop", "b"));
    assertEquals(List.of("a", "b"), rowsOf("--stop", "b", "--stop-inclusive"));
    assertEquals(List.of("b"), rowsOf("--start", "b", "--stop", "c"));
    assertEquals(List.of("c"), rowsOf("--prefix", "c"));
    assertEquals(List.of("c", "a"), rowsOf("--row", "c", "--row", "a"));
    assertEquals(List.of("a"), rowsOf("--limit", "2"));
    assertEquals(List.of(), rowsOf("--limit", "0"));
    assertEquals(0, cli.run("scan", "t", "--count", "-c", "f:q", "--start", "b"));
    assertEquals("2 rows, 2 cells\n", cli.out);
  }

  @Test
  void longFormAndJsonHaveEverything() {
    cli.run("table", "create", "t");
    cli.run("put", "t", "r\\x00", "f:q", "v\"\\xff", "--timestamp", "77", "--visibility", "a|b");
    assertEquals(0, cli.run("scan", "t", "--long"));
    assertEquals("r\\x00\tf:q\ta|b\t77\tv\"\\xff\n", cli.out);
    assertEquals(0, cli.run("lookup", "t", "r\\x00", "--json"));
    assertEquals(
        Map.of(
            "row", "r\\x00",
            "family", "f",
            "qualifier", "q",
            "visibility", "a|b",
            "timestamp", 77L,
            "value", "v\"\\xff"),
        Json.parseObject(cli.out));
    assertEquals(0, cli.run("scan", "t", "--count", "--json"));
    assertEquals(Map.of("rows", 1L, "cells", 1L), Json.parseObject(cli.out));
  }

  @Test
  void deleteTakesRowFamilyAndColumn() {
    fill();
    assertEquals(0, cli.run("delete", "t", "a", "f:q"));
    assertEquals(0, cli.run("delete", "t", "b", "g"));
    assertEquals(0, cli.run("delete", "t", "c"));
    cli.run("scan", "t");
    assertEquals("a\tg:q\t2\nb\tf:q\t3\n", cli.out);
  }

  @Test
  void failedWriteIsOneWithItsCause() {
    fill();
    cli.instance.refusedRows.add(org.stele.core.data.Bytes.of("x"));
    assertEquals(1, cli.run("put", "t", "x", "f:q", "1"));
    assertEquals("stele: 1 mutations failed\n", cli.err);
  }

  @Test
  void argumentsBehindTwoDashesMayBeginWithADash() {
    cli.run("table", "create", "t");
    assertEquals(0, cli.run("put", "t", "--", "-r", "f:q", "--value"), cli.err);
    assertEquals(0, cli.run("put", "t", "-", "f:q", "-"), cli.err);
    cli.run("scan", "t");
    assertEquals("-\tf:q\t-\n-r\tf:q\t--value\n", cli.out);
  }

  @Test
  void atSignsAndQuotesAreTakenAsTheyAre() {
    cli.run("table", "create", "t");
    assertEquals(0, cli.run("put", "t", "@row", "f:q", "\"v\""), cli.err);
    assertEquals(0, cli.run("put", "t", "'r'", "f:q", "@/etc/passwd"), cli.err);
    assertEquals(0, cli.run("put", "t", "${sys:user.name}", "f:q", "%n%s"), cli.err);
    cli.run("scan", "t");
    assertEquals(
        "${sys:user.name}\tf:q\t%n%s\n'r'\tf:q\t@/etc/passwd\n@row\tf:q\t\"v\"\n", cli.out);
  }

  @Test
  void tablesAreCreatedWithSplitsAndSettings() {
    assertEquals(
        0, cli.run("table", "create", "t", "--splits", "m,\\xff,a\\x2c", "-s", "table.versions=3"));
    assertEquals(Map.of("table.versions", "3"), cli.instance.settings.get("t"));
    assertEquals(0, cli.run("table", "splits", "t"));
    assertEquals("a,\nm\n\\xff\n", cli.out);
    assertEquals(0, cli.run("table", "list", "--json"));
    assertEquals(
        Map.of("name", "t", "id", "id-t", "settings", Map.of("table.versions", "3")),
        Json.parseObject(cli.out));
    assertEquals(0, cli.run("table", "flush", "t"));
    assertEquals(0, cli.run("table", "compact", "t"));
    assertEquals(List.of("t"), cli.instance.flushed);
    assertEquals(List.of("t"), cli.instance.compacted);
    assertEquals(1, cli.run("table", "create", "t"));
    assertEquals("stele: table t exists\n", cli.err);
    assertEquals(0, cli.run("table", "delete", "t"));
    assertEquals(0, cli.run("table", "list"));
    assertEquals("", cli.out);
  }

  @Test
  void goneReaderEndsQuietly() {
    fill();
    cli.output =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    assertEquals(1, cli.run("scan", "t"));
    assertEquals("", cli.err);
  }

  @Test
  void fullDiskBehindOutputIsAFailure() throws IOException {
    fill();
    try (OutputStream full = new FileOutputStream("/dev/full")) {
      cli.output = full;
      assertEquals(1, cli.run("scan", "t"));
      assertEquals("stele: cannot write to standard output: No space left on device\n", cli.err);
    }
  }

  @Test
  void aFailureOfOutputIsToldOnce() throws IOException {
    fill();
    String value = "x".repeat(100_000); // more than is buffered
    assertEquals(0, cli.run("put", "t", "long", "f:q", value));
    try (OutputStream full = new FileOutputStream("/dev/full")) {
      cli.output = full;
      assertEquals(1, cli.run("scan", "t"));
      assertEquals("stele: cannot write to standard output: No space left on device\n", cli.err);
    }
  }

  @Test
  void instanceIsFoundByOptionThenEnvironmentThenHome() {
    cli.run("table", "list", "--connect", "other:2");
    cli.run("table", "list");
    assertEquals(List.of("other:2", "zk:1"), cli.instance.connections);

    assertEquals(1, cli.run("--dir", "/nonexistent/x", "table", "list"));
    assertTrue(cli.err.contains("no server runs in /nonexistent/x"), cli.err);
    cli.environment.clear();
    cli.environment.put("STELE_DIR", "/nonexistent/y");
    assertEquals(1, cli.run("table", "list"));
    assertTrue(cli.err.contains("no server runs in /nonexistent/y"), cli.err);
    cli.environment.clear();
    cli.home = Path.of("/nonexistent/home");
    assertEquals(1, cli.run("table", "list"));
    assertTrue(cli.err.contains("no server runs in /nonexistent/home/data"), cli.err);
    cli.home = null;
    assertEquals(1, cli.run("table", "list"));
    assertTrue(cli.err.contains("no instance is named"), cli.err);
  }

  @Test
  void settingsOfTheServerArePrinted() {
    assertEquals(0, cli.run("settings"));
    assertEquals("rpc.port = 1234\n", cli.out);
    assertEquals(0, cli.run("settings", "--json"));
    assertEquals(
        Map.of("name", "rpc.port", "value", "1234", "default", "9640"), Json.parseObject(cli.out));
  }

  private void fill() {
    cli.run("table", "create", "t");
    int value = 1;
    for (String row : new String[] {"a", "b", "c"}) {
      cli.run("put", "t", row, "f:q", String.valueOf(value++));
      cli.run("put", "t", row, "g:q", String.valueOf(value++));
    }
  }

  private List<String> rowsOf(String... arguments) {
    List<String> line = new java.util.ArrayList<>(List.of("scan", "t"));
    line.addAll(List.of(arguments));
    assertEquals(0, cli.run(line.toArray(String[]::new)), cli.err);
    return cli.outLines().stream().map(text -> text.split("\t")[0]).distinct().toList();
  }
}
