package org.stele.test.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * An unpacked tarball. The one that tests share starts its servers faster than usual: the classes
 * they load are mapped from an archive that is made once.
 */
public final class Installation {
  private static final Duration UNPACK_LIMIT = Duration.ofMinutes(2);

  /** As in conf/stele-env.sh. */
  private static final String SERVER_OPTIONS = "-XX:+UseG1GC";

  /** Compiles quickly to code that is not the fastest. */
  private static final String FIRST_COMPILER_ONLY = " -XX:TieredStopAtLevel=1";

  private final Path home;
  private final String serverOptions;

  private Installation(Path home, String serverOptions) {
    this.home = home;
    this.serverOptions = serverOptions;
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
                .orElseThrow(),
            "");
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

  /**
   * Options of the virtual machine for servers, in place of those of conf/stele-env.sh; empty if
   * those are to be used.
   */
  public String serverOptions() {
    return serverOptions;
  }

  /** The same for servers that are started often and have little to do. */
  String shortLivedServerOptions() {
    return (serverOptions.isEmpty() ? SERVER_OPTIONS : serverOptions) + FIRST_COMPILER_ONLY;
  }

  /** This installation with an archive of classes; as it is if none can be made. */
  private Installation withClassArchive(Path directory) {
    Path archive = directory.resolve("server.jsa");
    try (StandaloneServer server =
        new StandaloneServer(this, directory.resolve("archived"), Map.of())) {
      server.environment("STELE_SERVER_OPTS", SERVER_OPTIONS + " -XX:+RecordDynamicDumpInfo");
      server.start().orFail();
      Commands.run(
          directory,
          Map.of(),
          new byte[0],
          UNPACK_LIMIT,
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
              Long.toString(server.pid()),
              "VM.cds",
              "dynamic_dump",
              archive.toString()));
    } catch (UncheckedIOException e) { // a Java without tools
      return this;
    }
    return Files.exists(archive)
        ? new Installation(home, SERVER_OPTIONS + " -XX:SharedArchiveFile=" + archive)
        : this;
  }

  private static final class Shared {
    static final Installation INSTALLATION = unpackOnce();

    private Shared() {}

    private static Installation unpackOnce() {
      try {
        Path directory = Files.createTempDirectory("stele-installation");
        Runtime.getRuntime()
            .addShutdownHook(new Thread(() -> delete(directory), "installation-delete"));
        return unpackInto(directory).withClassArchive(directory);
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
