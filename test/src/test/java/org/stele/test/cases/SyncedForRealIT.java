package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.file.CrashableFileStore;
import org.stele.test.check.AckLedger;
import org.stele.test.check.AckLedger.Outcome;
import org.stele.test.check.Conditions;
import org.stele.test.process.StandaloneServer;
import org.stele.test.process.SystemCalls;

/**
 * What is acknowledged is on the disk, and not in a buffer that says it had synced: nothing is lost
 * by {@code kill -9} right after the acknowledgement, a new log is in its directory before anything
 * in it is acknowledged, a store that cannot sync is refused, and no checksum files lie beside the
 * logs that could be stale.
 */
class SyncedForRealIT {
  private static final int ROWS = 1_000;
  private static final int WRITERS = 8;
  private static final int PUTS = 60;
  private static final int PUT_BYTES = 4_000;

  private static final List<String> CALLS =
      List.of(
          "openat",
          "write",
          "writev",
          "pwrite64",
          "pwritev",
          "sendto",
          "sendmsg",
          "fdatasync",
          "fsync");

  /** Marks the value of each put, to find it in the arguments of write calls. */
  private static final String MARK = "newlogmark";

  @TempDir private Path directory;

  @Test
  void aThousandRowsSurviveAKillRightAfterTheirAcknowledgement() throws Exception {
    AckLedger ledger = new AckLedger();
    try (StandaloneServer server = StandaloneServer.started(directory.resolve("data"), Map.of())) {
      try (SteleClient client =
          SteleClient.connect(
              server.zookeeper(), ClientOptions.defaults().withDeadline(Duration.ofSeconds(5)))) {
        client
            .tables()
            .create(
                LedgerWriters.TABLE,
                TableOptions.defaults().withSplits(List.of(Bytes.of("4"), Bytes.of("8"))));
        try (LedgerWriters writers =
            new LedgerWriters(client, ledger, new AtomicInteger(), WRITERS, 10)) {
          Conditions.await(
              "a thousand rows are acknowledged",
              Duration.ofMinutes(1),
              () -> writers.acked() >= ROWS);
          server.kill9();
        }
      }
      assertTrue(ledger.count(Outcome.ACKED) >= ROWS);
      Path store = server.directory().resolve("store");
      assertEquals(List.of(), named(store, ".crc"));
      leaveStaleChecksums(store);
      server.start().orFail();
      try (SteleClient client = server.client()) {
        assertEquals(List.of(), LedgerWriters.check(client, ledger));
        client.tables().flush(LedgerWriters.TABLE);
      }
      assertEquals(List.of(), named(server.directory(), "bad_files"));
      server.stop().orFail();
    }
  }

  /** As Hadoop's local file system would have them, and wrong. */
  private static void leaveStaleChecksums(Path store) throws IOException {
    List<Path> files = named(store, ".wal");
    assertFalse(files.isEmpty());
    for (Path file : files) {
      Files.writeString(
          file.resolveSibling("." + file.getFileName() + ".crc"), "crc\0 of something else");
    }
  }

  private static List<Path> named(Path root, String end) throws IOException {
    try (Stream<Path> paths = Files.walk(root)) {
      return paths.filter(path -> path.toString().endsWith(end)).toList();
    }
  }

  @Test
  void aStoreThatCannotSyncIsRefusedByName() {
    CrashableFileStore store = new CrashableFileStore();
    store.setCanSync(false);
    try (CrashableInstance instance =
        new CrashableInstance(directory.resolve("nosync"), store, Map.of())) {
      IOException refused = assertThrows(IOException.class, instance::start);
      assertTrue(refused.getMessage().contains(store.root() + " cannot sync"), refused::getMessage);
    }
  }

  @Test
  void aNewLogIsInItsDirectoryBeforeItsFirstReply() throws Exception {
    assumeTrue(SystemCalls.canBeSeen(), "strace is not installed");
    try (StandaloneServer server =
            StandaloneServer.started(directory.resolve("traced"), Map.of("wal.size", "64K"));
        SteleClient client = server.client()) {
      client.tables().create("puts");
      try (SystemCalls calls =
          SystemCalls.attach(server.pid(), 256, CALLS, directory.resolve("trace"))) {
        for (int i = 0; i < PUTS; i++) {
          String value = MARK + i + "." + "x".repeat(PUT_BYTES);
          client.write("puts", Mutation.of("row" + i).put("f", "q", value));
        }
        checkDirectories(calls.detach());
      }
    }
  }

  /** Puts come one after the other; each reply ends the put whose log write was seen last. */
  private static void checkDirectories(List<String> trace) {
    Pattern create = Pattern.compile("openat\\([^\"]*\"(.*/data)/(\\d+\\.wal)\", [^,]*O_CREAT");
    Pattern logWrite =
        Pattern.compile("p?write(?:v|64)?\\(\\d+<(.*/data)/(\\d+\\.wal)>.*?" + MARK + "\\d+\\.");
    Pattern sync = Pattern.compile("^(\\d+)\\s+fsync\\(\\d+<(.*/data)>(?:\\)\\s+= 0| <unfinished)");
    Pattern syncEnd = Pattern.compile("^(\\d+)\\s+<\\.\\.\\. fsync resumed>\\)\\s+= 0");
    Pattern reply = Pattern.compile("(?:write|writev|sendto|sendmsg)\\(\\d+<(?:TCP|socket).*");
    Set<String> created = new HashSet<>();
    Set<String> withoutEntry = new HashSet<>();
    Map<String, Set<String>> syncing = new HashMap<>();
    Set<String> acknowledgedIn = new HashSet<>();
    String writtenTo = "";
    for (String line : trace) {
      Matcher made = create.matcher(line);
      Matcher write = logWrite.matcher(line);
      Matcher synced = sync.matcher(line);
      Matcher ended = syncEnd.matcher(line);
      if (made.find()) {
        created.add(made.group(2));
        withoutEntry.add(made.group(2));
      } else if (write.find()) {
        writtenTo = write.group(2);
      } else if (synced.find()) {
        Set<String> covered = new HashSet<>(withoutEntry);
        if (line.contains("<unfinished")) {
          syncing.put(synced.group(1), covered);
        } else {
          withoutEntry.removeAll(covered);
        }
      } else if (ended.find()) {
        withoutEntry.removeAll(syncing.getOrDefault(ended.group(1), Set.of()));
      } else if (!writtenTo.isEmpty() && reply.matcher(line).find() && !line.contains(MARK)) {
        assertFalse(
            withoutEntry.contains(writtenTo),
            writtenTo + " was acknowledged in before its directory was synced: " + line);
        acknowledgedIn.add(writtenTo);
        writtenTo = "";
      }
    }
    acknowledgedIn.retainAll(created);
    assertTrue(
        acknowledgedIn.size() >= 2, () -> "too few new logs to prove anything: " + acknowledgedIn);
  }
}
