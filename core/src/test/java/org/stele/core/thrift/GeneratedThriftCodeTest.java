package org.stele.core.thrift;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The committed Thrift code is what {@code src/main/thrift/generate} makes of the committed IDL.
 */
class GeneratedThriftCodeTest {
  private static final Path BASE = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
  private static final Path GENERATE = BASE.resolve("src/main/thrift/generate");
  private static final Path COMMITTED = BASE.resolve("src/main/gen-java");
  private static final int NO_COMPILER = 3;

  @Test
  void committedCodeIsGeneratedFromTheIdl(@TempDir Path fresh) throws Exception {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/python3")), "the generator runs on /usr/bin/python3");
    Path log = fresh.resolve("generate.log");
    Path code = fresh.resolve("code");
    Process process =
        new ProcessBuilder(GENERATE.toString(), "--into", code.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the generator hangs");
    String said = Files.readString(log);
    assumeFalse(process.exitValue() == NO_COMPILER, said);
    assertEquals(0, process.exitValue(), said);

    Map<String, String> expected = read(code);
    Map<String, String> actual = read(COMMITTED);
    String advice = "run core/src/main/thrift/generate and commit core/src/main/gen-java";
    assertEquals(expected.keySet(), actual.keySet(), advice);
    expected.forEach((name, text) -> assertEquals(text, actual.get(name), name + ": " + advice));
  }

  private static Map<String, String> read(Path directory) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : (Iterable<Path>) paths.filter(Files::isRegularFile)::iterator) {
        files.put(directory.relativize(path).toString(), Files.readString(path, UTF_8));
      }
    }
    return files;
  }
}
