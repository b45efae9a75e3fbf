package org.stele.test.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.core.data.Cell;

/** What the README says is so. */
class ReadmeTest {
  private static final Path ROOT =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().normalize().getParent();
  private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)\\)");

  @TempDir Path folder;

  @Test
  void firstProgramCompilesWithClientAndCoreAlone() throws Exception {
    Matcher matcher = PROGRAM.matcher(readme());
    assertTrue(matcher.find(), "README.md has a Java program");
    Path source = folder.resolve("First.java");
    Files.writeString(source, matcher.group(1));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, UTF_8)) {
      List<String> options =
          List.of(
              "-d",
              folder.toString(),
              "-cp",
              locationOf(SteleClient.class) + ":" + locationOf(Cell.class));
      boolean compiled =
          compiler
              .getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
              .call();
      assertTrue(compiled, messages::toString);
    }
  }

  @Test
  void linksLeadToFiles() throws IOException {
    Matcher matcher = LINK.matcher(readme());
    while (matcher.find()) {
      assertTrue(Files.exists(ROOT.resolve(matcher.group(1))), matcher.group(1));
    }
  }

  private static String readme() throws IOException {
    return Files.readString(ROOT.resolve("README.md"), UTF_8);
  }

  private static Path locationOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
