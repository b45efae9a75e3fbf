package org.stele.test.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Links between documents. */
final class Links {
  private static final Pattern LINK = Pattern.compile("]\\(([^)#:\\s]+)(?:#[^)]*)?\\)");

  private Links() {}

  /** Those that lead to no file, of the documents in a folder and in its {@code docs}. */
  static List<String> dead(Path root) throws IOException {
    List<String> dead = new ArrayList<>();
    List<Path> documents;
    try (Stream<Path> top = Files.list(root);
        Stream<Path> docs = Files.walk(root.resolve("docs"))) {
      documents = Stream.concat(top, docs).filter(file -> file.toString().endsWith(".md")).toList();
    }
    for (Path document : documents) {
      Matcher link = LINK.matcher(Files.readString(document, UTF_8));
      while (link.find()) {
        if (!Files.exists(document.resolveSibling(link.group(1)))) {
          dead.add(root.relativize(document) + ": " + link.group(1));
        }
      }
    }
    return dead;
  }
}
