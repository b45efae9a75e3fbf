package org.stele.test.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinksTest {
  @TempDir Path folder;

  @Test
  void allLeadToFiles() throws IOException {
    assertEquals(List.of(), Links.dead(Readme.ROOT));
  }

  @Test
  void deadOnesAreFound() throws IOException {
    Path docs = Files.createDirectory(folder.resolve("docs"));
    Files.writeString(
        docs.resolve("a.md"), "[b](b.md#there) [a](a.md#x) [up](../up.md) [far](https://x.y/z)");
    assertEquals(List.of("docs/a.md: b.md", "docs/a.md: ../up.md"), Links.dead(folder));
  }
}
