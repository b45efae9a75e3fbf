package org.stele.server.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotPurgeTest {
  @TempDir Path directory;

  /** Valid snapshots as of these transactions, and logs that begin with them. */
  private void files(long... transactions) throws IOException {
    FileTxnSnapLog files = new FileTxnSnapLog(directory.toFile(), directory.toFile());
    for (long transaction : transactions) {
      DataTree tree = new DataTree();
      tree.lastProcessedZxid = transaction;
      files.save(tree, new ConcurrentHashMap<>(), true);
      Files.createFile(directory.resolve("version-2/log." + Long.toHexString(transaction)));
    }
    files.close();
  }

  private List<String> names() throws IOException {
    try (Stream<Path> all = Files.list(directory.resolve("version-2"))) {
      return all.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void keepsTheNewestSnapshotsAndTheLogsBehindThemAndPrintsNothing() throws IOException {
    files(1, 2, 10, 20, 33);
    Files.createFile(directory.resolve("version-2/acceptedEpoch"));
    Files.createFile(directory.resolve("version-2/snapshot.30")); // of a snapshot cut short
    PrintStream stdout = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, UTF_8));
    try (SnapshotPurge purge = new SnapshotPurge(directory.toFile(), 2)) {
      purge.run();
      purge.run();
    } finally {
      System.setOut(stdout);
    }
    assertEquals("", printed.toString(UTF_8));
    assertEquals(
        List.of("acceptedEpoch", "log.14", "log.21", "snapshot.14", "snapshot.21", "snapshot.30"),
        names());
  }

  @Test
  void withoutASnapshotAllStays() throws IOException {
    files();
    Files.createFile(directory.resolve("version-2/log.1"));
    try (SnapshotPurge purge = new SnapshotPurge(directory.toFile(), 3)) {
      purge.run();
    }
    assertEquals(List.of("log.1"), names());
  }
}
