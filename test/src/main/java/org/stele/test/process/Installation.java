package org.stele.test.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** An unpacked tarball. */
public final class Installation {
  private static final Duration UNPACK_LIMIT = Duration.ofMinutes(2);

  private final Path home;

  private Installation(Path home) {
    this.home = home;
  }

  /** Unpacks the tarball of this build (system property {@code stele.tarball}) into a directory. */
  public static Installation unpackInto(Path directory) {
    String tarball = System.getProperty("stele.tarball");
    if (tarball == null) {
      throw new IllegalStateException(
          "the system property stele.tarball does not name the tarball");
    }
    try {
      Files.createDirectories(directory);
      Commands.run(
              directory,
              Map.of(),
              new byte[0],
              UNPACK_LIMIT,
              List.of("tar", "xzf", Path.of(tarball).toRealPath().toString()))
          .orFail();
      try (Stream<Path> entries = Files.list(directory)) {
        return new Installation(
            entries
                .filter(path -> path.getFileName().toString().startsWith("stele-"))
                .findFirst()
                .orElseThrow());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The tarball unpacked once for all tests of this JVM that do not change it. */
  public static Installation shared() {
    return Shared.INSTALLATION;
  }

  public Path home() {
    return home;
  }

  public Path script() {
    return home.resolve("bin/stele");
  }

  private static final class Shared {
    static final Installation INSTALLATION = unpackOnce();

    private Shared() {}

    private static Installation unpackOnce() {
      try {
        Path directory = Files.createTempDirectory("stele-installation");
        Runtime.getRuntime()
            .addShutdownHook(new Thread(() -> delete(directory), "installation-delete"));
        return unpackInto(directory);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Deletes a directory and all in it. */
  public static void delete(Path directory) {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
