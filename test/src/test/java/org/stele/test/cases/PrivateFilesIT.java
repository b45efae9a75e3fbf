package org.stele.test.cases;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.test.check.TestForm;
import org.stele.test.process.CommandResult;
import org.stele.test.process.Installation;
import org.stele.test.process.StandaloneServer;

/**
 * What a server writes is for its owner alone, whatever the umask: logs, sorted files, ZooKeeper's
 * data, what it says about itself, and files that are there for a moment only. Values of cells are
 * in none of the places where operators look.
 */
class PrivateFilesIT {
  private static final String TABLE = "private";
  private static final String MARK = "valueofacellthatnobodyelsereads";
  private static final int ROWS = 50;
  private static final long LOOK_NANOS = 20_000_000;

  @TempDir private Path directory;

  static List<String> umasks() {
    return TestForm.LONG ? List.of("000", "022", "077") : List.of("000");
  }

  @ParameterizedTest
  @MethodSource("umasks")
  void onlyTheOwnerReadsWhatAServerWrites(String umask) throws Exception {
    StandaloneServer server =
        new StandaloneServer(
            Installation.shared(),
            directory.resolve("umask" + umask),
            Map.of("wal.size", "64K", "files.grace", "0s"));
    server.under(List.of("bash", "-c", "umask " + umask + "; exec \"$@\"", "wrapper"));
    try (server;
        Look look = new Look(server.directory())) {
      server.start().orFail();
      work(server);
      server.kill9();
      server.start().orFail();
      try (SteleClient client = server.client()) {
        assertTrue(client.lookup(TABLE, "row0").get("f", "q").startsWith(MARK));
        client.tables().flush(TABLE);
      }
      assertHidden(server);
      server.stop().orFail();
      look.end();
      assertEquals(Set.of(), look.open);
      assertTrue(look.seen.size() > 20, () -> "hardly anything was seen: " + look.seen);
    }
  }

  /** Logs begin and end, files are made, merged and deleted; something goes wrong, too. */
  private static void work(StandaloneServer server) {
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < ROWS; i++) {
          client.write(TABLE, Mutation.of("row" + i).put("f", "q", MARK + "x".repeat(4000)));
        }
        client.tables().flush(TABLE);
      }
      client.tables().compact(TABLE);
      client.write(TABLE, Mutation.of("row0").put("f", "q", MARK));
    }
    CommandResult wrong = server.stele("put", "no.such.table", "row", "f:q", MARK);
    assertEquals(1, wrong.exitCode(), wrong::toString);
    assertFalse(wrong.err().contains(MARK), wrong::toString);
  }

  private static void assertHidden(StandaloneServer server) throws IOException {
    for (String place : List.of("logs", "zookeeper", "conf")) {
      try (Stream<Path> files = Files.walk(server.directory().resolve(place))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          assertHidden(file);
        }
      }
    }
    assertHidden(server.directory().resolve("status.json"));
    Path process = Path.of("/proc", Long.toString(server.pid()));
    assertHidden(process.resolve("cmdline"));
    assertHidden(process.resolve("environ"));
    assertFalse(server.stele("status", "--json").orFail().out().contains(MARK));
  }

  private static void assertHidden(Path file) throws IOException {
    String text = new String(Files.readAllBytes(file), ISO_8859_1);
    assertFalse(text.contains(MARK), () -> file + " has the value of a cell");
  }

  /** Looks again and again at all there is below a directory, until it is ended. */
  private static final class Look implements AutoCloseable {
    /** What is open to others, and how. */
    final Set<String> open = new ConcurrentSkipListSet<>();

    final Set<Path> seen = new ConcurrentSkipListSet<>();
    private final Path directory;
    private final Thread thread = new Thread(this::run, "look");
    private volatile boolean ended;

    Look(Path directory) {
      this.directory = directory;
      thread.start();
    }

    private void run() {
      while (!ended) {
        // Before the server is there the directory is this test's.
        if (Files.exists(directory.resolve("stele.pid"))) {
          look(directory);
        }
        LockSupport.parkNanos(LOOK_NANOS);
      }
    }

    private void look(Path path) {
      try {
        PosixFileAttributes attributes =
            Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        seen.add(path);
        String expected = attributes.isDirectory() ? "rwx------" : "rw-------";
        String found = PosixFilePermissions.toString(attributes.permissions());
        // Its settings are the operator's file.
        if (!found.equals(expected) && !path.endsWith("conf/stele.properties")) {
          open.add(directory.relativize(path) + ": " + found);
        }
        if (attributes.isDirectory()) {
          try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            entries.forEach(this::look);
          }
        }
      } catch (NoSuchFileException e) {
        seen.add(path); // it was there for a moment only
      } catch (IOException | DirectoryIteratorException e) {
        open.add(path + ": " + e);
      }
    }

    void end() {
      ended = true;
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() {
      end();
    }
  }
}
