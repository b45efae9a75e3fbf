package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.process.Installation;
import org.stele.test.process.Serving;
import org.stele.test.process.StandaloneServer;
import org.stele.test.process.UnprivilegedUser;

/**
 * A sorted file that the server may not read: clients of its tablet hear of the file and of the
 * reason, other tablets are served, and so is this one soon after the file can be read again.
 */
class UnreadableFileIT {
  private static final UnprivilegedUser USER = new UnprivilegedUser(54_322);
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** A tablet is tried again after at most ten seconds. */
  private static final Duration RETRY_LIMIT = TestForm.generous(Duration.ofSeconds(11));

  /** Below /tmp, since the user has to get there. */
  private Path directory;

  private Installation installation;

  @BeforeEach
  void unpack() throws IOException {
    directory = Files.createTempDirectory(Path.of("/tmp"), "stele-unreadable");
    setMode(directory, "rwxr-xr-x");
    installation = Installation.unpackInto(directory);
    assumeTrue(
        USER.isPossible(installation.script()), "cannot run a command as another user: not root");
  }

  @AfterEach
  void delete() {
    Installation.delete(directory);
  }

  @Test
  void anUnreadableFileIsNamedAndReadAgainWhenItCanBe() throws Exception {
    try (StandaloneServer server =
        new StandaloneServer(installation, directory.resolve("data"), Map.of())
            .as(USER)
            .shortLived()) {
      server.startDirectly();
      try (SteleClient client = server.client()) {
        client.tables().create("halves", TableOptions.defaults().withSplits(splits()));
        client.write("halves", Mutation.of("a").put("f", "q", "first"));
        client.tables().flush("halves");
      }
      Path file = sortedFile(server.directory().resolve("store/tables"));
      try (SteleClient client = server.client()) {
        client.write("halves", Mutation.of("z").put("f", "q", "last"));
        client.tables().flush("halves");
      }
      server.stop().orFail();
      setMode(file, "---------");
      server.startDirectly();
      try (SteleClient client =
          SteleClient.connect(
              server.zookeeper(), Serving.current().clientOptions().withDeadline(DEADLINE))) {
        assertEquals("last", client.lookup("halves", "z").get("f", "q"));
        for (int i = 0; i < 2; i++) {
          SteleException e = assertThrows(SteleException.class, () -> client.lookup("halves", "a"));
          assertEquals(ErrorCode.CORRUPT, e.code(), e::getMessage);
          assertTrue(file.endsWith(String.valueOf(e.file())), () -> "which file? " + e);
          assertTrue(
              String.valueOf(e.getMessage()).contains("permission denied"),
              () -> "why? " + e.getMessage());
        }
        setMode(file, "rw-------");
        Conditions.await(
            "the tablet is served again", RETRY_LIMIT, () -> "first".equals(lookup(client)));
        assertEquals("last", client.lookup("halves", "z").get("f", "q"));
      }
    }
  }

  private static List<Bytes> splits() {
    return List.of(Bytes.of("m"));
  }

  /** The only one there is, of a table of a user. */
  private static Path sortedFile(Path tables) throws IOException {
    try (Stream<Path> paths = Files.walk(tables)) {
      List<Path> files = paths.filter(path -> path.toString().endsWith(".sf")).toList();
      assertEquals(1, files.size(), files::toString);
      return files.get(0);
    }
  }

  private static String lookup(SteleClient client) {
    try {
      return client.lookup("halves", "a").get("f", "q");
    } catch (SteleException e) {
      return "not yet: " + e;
    }
  }

  private static void setMode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }
}
