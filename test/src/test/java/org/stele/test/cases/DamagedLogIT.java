package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.test.check.TestForm;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Commands;
import org.stele.test.process.StandaloneServer;

/**
 * Damage in the middle of the logs is no torn tail: the tablets that may have lost writes are not
 * served, with an error that names file and offset; others are; nothing is deleted. An operator can
 * accept the loss, and then has all that is left.
 */
class DamagedLogIT {
  private static final String HURT = "hurt";
  private static final String SAFE = "safe";
  private static final int LOGS = 3;
  private static final int RECORDS = 60;
  private static final int VALUE_BYTES = 3_200;
  private static final int GROUP_HEADER = 40;
  private static final Map<String, String> SETTINGS =
      Map.of("wal.size", "64K", "wal.retained.logs", "100");

  @TempDir private Path directory;

  private Path saved = Path.of("");

  /** The offsets of all groups, which here have one record each, and the end; by number of log. */
  private final Map<Integer, List<Long>> groups = new TreeMap<>();

  /** Does something bad to a log. */
  private interface Harm {
    void to(Path log) throws IOException;
  }

  @Test
  void damageIsFoundNamedAndConfined() throws Exception {
    writeLogsAndKill();
    int first = groups.get(1).size() - 1;
    int second = groups.get(2).size() - 1;
    long flipAt = groups.get(1).get(4) + GROUP_HEADER + VALUE_BYTES / 2;
    check("flipped", 1, log -> flip(log, flipAt), groups.get(1).get(4), List.of(4));
    List<Integer> secondLog = numbers(first, first + second);
    check("deleted", 2, Files::delete, 0, secondLog);
    long boundary = groups.get(2).get(7);
    check("cut", 2, log -> cut(log, boundary), boundary, secondLog.subList(7, second));
  }

  private void writeLogsAndKill() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.startedShortLived(directory.resolve("saved"), SETTINGS)) {
      saved = server.directory();
      try (SteleClient client = server.client()) {
        client.tables().create(HURT);
        client.tables().create(SAFE);
        for (int i = 0; i < RECORDS; i++) {
          client.write(HURT, Mutation.of(row(i)).put("f", "q", "x".repeat(VALUE_BYTES)));
        }
        for (int i = 0; i < 5; i++) {
          client.write(SAFE, Mutation.of(row(i)).put("f", "q", "v"));
        }
      }
      server.kill9();
    }
    for (int log = 1; log < LOGS; log++) {
      groups.put(log, groups(log(saved, log)));
    }
  }

  private static String row(int number) {
    return String.format("row%04d", number);
  }

  private static List<Integer> numbers(int from, int to) {
    return Stream.iterate(from, i -> i < to, i -> i + 1).toList();
  }

  /** A log of users' tablets of the first server, wherever its session's directory is now. */
  private static Path log(Path instance, int number) throws IOException {
    return directoryOfLogs(instance).resolve(String.format("%08d.wal", number));
  }

  /** It has many logs; later servers have one. */
  private static Path directoryOfLogs(Path instance) throws IOException {
    try (Stream<Path> paths = Files.walk(instance.resolve("store/wal"))) {
      return paths
          .filter(path -> path.endsWith("data"))
          .filter(path -> Files.exists(path.resolve("00000003.wal")))
          .findFirst()
          .orElseThrow();
    }
  }

  /** Where the groups of records begin, and where the last one ends: docs/formats. */
  private static List<Long> groups(Path log) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(log));
    List<Long> offsets = new ArrayList<>();
    int at = bytes.getInt(10);
    while (bytes.get(at) == 'G' && bytes.get(at + 1) == 1) {
      offsets.add((long) at);
      assertEquals(1, bytes.getInt(at + 8), "records of a group");
      at += GROUP_HEADER + bytes.getInt(at + 4);
    }
    offsets.add((long) at);
    assertTrue(offsets.size() > 15, () -> log + " has only " + offsets.size() + " groups");
    return offsets;
  }

  private static void flip(Path file, long offset) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, offset);
      one.put(0, (byte) (one.get(0) ^ 0x10)).rewind();
      channel.write(one, offset);
    }
  }

  private static void cut(Path file, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  /**
   * Damages a log of a copy, and does what an operator would.
   *
   * @param offset where the damage is, at most a record before
   * @param lost the rows that are not there any more when the loss is accepted
   */
  private void check(String name, int number, Harm harm, long offset, List<Integer> lost)
      throws Exception {
    Path copy = directory.resolve(name);
    Commands.run(
            directory,
            Map.of(),
            new byte[0],
            Duration.ofMinutes(1),
            List.of("cp", "-a", saved.toString(), copy.toString()))
        .orFail();
    String file = String.format("data/%08d.wal", number);
    harm.to(log(copy, number));
    Set<String> filesBefore = logFiles(copy);
    try (StandaloneServer server = StandaloneServer.startedShortLived(copy, SETTINGS)) {
      assertRefused(server, file, offset);
      assertTrue(
          server.log().stream().anyMatch(line -> line.contains("ERROR") && line.contains(file)),
          name + ": the log of the server does not name the file");
      if (!name.equals("deleted")) {
        CommandResult checked = server.stele("wal", "check", log(copy, number).toString());
        assertEquals(1, checked.exitCode(), checked::toString);
        assertTrue(checked.out().contains("DAMAGED from offset"), checked::toString);
      }
      if (TestForm.LONG || number == 1) {
        // Another recovery finds the same.
        server.restartAfterKill();
        assertRefused(server, file, offset);
      }
      assertTrue(logFiles(copy).containsAll(filesBefore), name + ": files have gone");
      acceptLoss(copy, number);
      server.restartAfterKill();
      assertAllButLost(server, lost);
    }
  }

  /** Names of logs without that of their session's directory, which fencing renames. */
  private static Set<String> logFiles(Path instance) throws IOException {
    Path root = instance.resolve("store/wal");
    Set<String> files = new TreeSet<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.filter(each -> each.toString().endsWith(".wal")).toList()) {
        if (path.getParent().endsWith("data")) {
          files.add(root.relativize(path).toString().replace(".fenced", ""));
        }
      }
    }
    return files;
  }

  /** The damaged log stays where it is; beside it lies that an operator knows. */
  private static void acceptLoss(Path instance, int number) throws IOException {
    String marker = String.format("%08d.wal.accepted-loss", number);
    Files.createFile(directoryOfLogs(instance).resolve(marker));
  }

  private static void assertRefused(StandaloneServer server, String file, long offset) {
    try (SteleClient client =
        SteleClient.connect(
            server.zookeeper(), ClientOptions.defaults().withDeadline(Duration.ofSeconds(30)))) {
      assertCorrupt(file, offset, () -> client.lookup(HURT, row(0)));
      assertCorrupt(file, offset, () -> rows(client, HURT));
      assertCorrupt(
          file, offset, () -> client.write(HURT, Mutation.of(row(1)).put("f", "q", "again")));
      assertEquals(numbers(0, 5).stream().map(DamagedLogIT::row).toList(), rows(client, SAFE));
      client.write(SAFE, Mutation.of(row(0)).put("f", "q", "goes on"));
    }
  }

  private static void assertCorrupt(String file, long offset, Executable read) {
    long begun = System.nanoTime();
    SteleException refused = assertThrows(SteleException.class, read);
    assertEquals(ErrorCode.CORRUPT, refused.code(), refused::getMessage);
    String named = String.valueOf(refused.file());
    assertTrue(named.endsWith(file), () -> named + " is named, damaged is " + file);
    assertTrue(
        refused.offset() >= offset && refused.offset() <= offset + GROUP_HEADER,
        () -> "offset " + refused.offset() + " is named, damaged is " + offset);
    long tookSeconds = (System.nanoTime() - begun) / 1_000_000_000;
    assertTrue(tookSeconds < 20, () -> "the refusal took " + tookSeconds + " s");
  }

  private static void assertAllButLost(StandaloneServer server, List<Integer> lost) {
    List<String> left =
        numbers(0, RECORDS).stream()
            .filter(number -> !lost.contains(number))
            .map(DamagedLogIT::row)
            .toList();
    try (SteleClient client = server.client()) {
      assertEquals(left, rows(client, HURT));
      client.write(HURT, Mutation.of("new").put("f", "q", "v"));
    }
  }

  private static List<String> rows(SteleClient client, String table) {
    List<String> rows = new ArrayList<>();
    try (Scanner scanner = client.scanner(table).open()) {
      for (Cell cell : scanner) {
        rows.add(cell.row().toUtf8());
      }
    }
    return rows;
  }
}
