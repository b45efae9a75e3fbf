package org.stele.test.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.core.data.Cell;

/** What the README says is so. */
class ReadmeTest {
  @TempDir Path folder;

  @Test
  void programsCompileWithClientAndCoreAlone() throws Exception {
    Map<String, String> programs = Readme.javaPrograms();
    assertFalse(programs.isEmpty(), "README.md has no Java program");
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, UTF_8)) {
      List<String> options =
          List.of(
              "-d",
              folder.toString(),
              "-cp",
              locationOf(SteleClient.class) + ":" + locationOf(Cell.class));
      for (Map.Entry<String, String> program : programs.entrySet()) {
        Path source = folder.resolve(program.getKey() + ".java");
        Files.writeString(source, program.getValue());
        boolean compiled =
            compiler
                .getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
                .call();
        assertTrue(compiled, messages::toString);
      }
    }
  }

  private static Path locationOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
