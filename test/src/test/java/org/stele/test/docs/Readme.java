package org.stele.test.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The README of the project. */
final class Readme {
  static final Path ROOT =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().normalize().getParent();

  private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern CLASS = Pattern.compile("^class (\\w+)", Pattern.MULTILINE);

  private Readme() {}

  static String text() throws IOException {
    return Files.readString(ROOT.resolve("README.md"), UTF_8);
  }

  /** The Java programs in it, by the names of their classes. */
  static Map<String, String> javaPrograms() throws IOException {
    Map<String, String> programs = new LinkedHashMap<>();
    Matcher program = JAVA.matcher(text());
    while (program.find()) {
      Matcher name = CLASS.matcher(program.group(1));
      if (!name.find()) {
        throw new AssertionError("a Java program of the README has no class");
      }
      programs.put(name.group(1), program.group(1));
    }
    return programs;
  }
}
