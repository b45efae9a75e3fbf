package org.stele.test.conf;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.stele.core.settings.Setting;
import org.stele.core.settings.StandardSettings;

/**
 * The file conf/stele.properties of the distribution lists every setting, commented out, with its
 * default. {@code mvn -pl test -am test -Dtest=ShippedSettingsTest -Dstele.regenerate=true} writes
 * it anew.
 */
class ShippedSettingsTest {
  private static final int WIDTH = 100;

  @Test
  void fileListsEverySettingWithItsDefault() throws IOException {
    Path file =
        Path.of(System.getProperty("basedir", "")).resolve("../assemble/conf/stele.properties");
    if (Boolean.getBoolean("stele.regenerate")) {
      Files.writeString(file, text());
    }
    assertEquals(text(), Files.readString(file, UTF_8), "regenerate it, see the class comment");
  }

  private static String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        "# Settings of servers. Each line below shows a default; take the # away to change it.\n");
    text.append(
        "# This file < conf/stele.properties of the instance directory < environment < options.\n");
    text.append(
        "# In the environment rpc.port is STELE_SETTING_RPC_PORT, as an option --set"
            + " rpc.port=N.\n");
    text.append(
        "# Settings of tables go into tables made from now on. docs/settings.md says more.\n");
    for (Setting<?> setting : StandardSettings.all()) {
      text.append('\n');
      append(text, setting.description());
      append(text, "It is " + setting.type().rule() + ".");
      text.append('#')
          .append(setting.name())
          .append('=')
          .append(setting.defaultText())
          .append('\n');
    }
    return text.toString();
  }

  /** As comment lines of limited width. */
  private static void append(StringBuilder text, String sentence) {
    StringBuilder line = new StringBuilder("#");
    for (String word : sentence.split(" ")) {
      if (line.length() + 1 + word.length() > WIDTH) {
        text.append(line).append('\n');
        line = new StringBuilder("#");
      }
      line.append(' ').append(word);
    }
    text.append(line).append('\n');
  }
}
