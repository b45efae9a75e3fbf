package org.stele.core.settings;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** docs/settings.md is what the settings say; {@code -Dstele.docs.write=true} makes it so. */
class SettingsReferenceTest {
  private static final Path PAGE =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../docs/settings.md");

  @Test
  void thePageIsCurrent() throws IOException {
    String expected = SettingsReference.markdown();
    if (Boolean.getBoolean("stele.docs.write")) {
      Files.writeString(PAGE, expected, UTF_8);
    }
    assertEquals(
        expected,
        Files.exists(PAGE) ? Files.readString(PAGE, UTF_8) : "",
        "docs/settings.md is not current: run this test with -Dstele.docs.write=true");
  }
}
