package org.stele.core.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigLoaderTest {
  @TempDir Path temp;

  @Test
  void laterSourcesWin() throws IOException {
    Path file = temp.resolve("stele.properties");
    Files.writeString(file, "# ports\nrpc.port=1\nwal.size = 1M\nzookeeper.port=1\n");
    Settings settings =
        ConfigLoader.load(
            file,
            Map.of("STELE_SETTING_RPC_PORT", "2", "STELE_SETTING_ZOOKEEPER_PORT", "2", "HOME", "/"),
            Map.of("rpc.port", "3"));
    assertEquals(3, settings.get(StandardSettings.RPC_PORT));
    assertEquals(2, settings.get(StandardSettings.ZOOKEEPER_PORT));
    assertEquals(1 << 20, settings.get(StandardSettings.WAL_SIZE));
  }

  @Test
  void aMissingFileSaysNothing() throws IOException {
    Settings settings = ConfigLoader.load(temp.resolve("none"), Map.of(), Map.of());
    assertEquals(Map.of(), settings.given());
  }

  @Test
  void refusesAKeyThatIsThereTwice() throws IOException {
    Path file = temp.resolve("stele.properties");
    Files.writeString(file, "rpc.port=1\nrpc.port=1\n");
    SettingException refused =
        assertThrows(SettingException.class, () -> ConfigLoader.load(file, Map.of(), Map.of()));
    assertTrue(refused.getMessage().contains("rpc.port is there twice"), refused.getMessage());
    assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
  }

  @Test
  void namesAFileThatIsNoText() throws IOException {
    Path file = temp.resolve("stele.properties");
    Files.write(file, new byte[] {'#', ' ', (byte) 0xfc, '\n'});
    SettingException refused =
        assertThrows(SettingException.class, () -> ConfigLoader.load(file, Map.of(), Map.of()));
    assertTrue(refused.getMessage().startsWith(file + " is not UTF-8"), refused.getMessage());
  }

  @Test
  void namesADirectoryThatIsThereInsteadOfTheFile() {
    IOException refused =
        assertThrows(IOException.class, () -> ConfigLoader.load(temp, Map.of(), Map.of()));
    assertTrue(refused.getMessage().contains(temp.toString()), refused.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "abc",
        "-1",
        "1O24",
        "99999999999999999999",
        "3 G",
        "9640 ",
        "5 m",
        "65536",
        "0x10"
      })
  void refusesWhatIsNotExactlyRight(String text) {
    SettingException refused =
        assertThrows(
            SettingException.class,
            () -> ConfigLoader.load(temp.resolve("none"), Map.of(), Map.of("rpc.port", text)));
    assertTrue(refused.getMessage().contains("rpc.port = '" + text + "'"), refused.getMessage());
  }

  @Test
  void refusesUnknownVariablesWithTheNearestName() {
    SettingException refused =
        assertThrows(
            SettingException.class,
            () ->
                ConfigLoader.load(
                    temp.resolve("none"), Map.of("STELE_SETTING_RPC_PROT", "1"), Map.of()));
    assertTrue(
        refused.getMessage().contains("environment: there is no setting rpc.prot"),
        refused.getMessage());
    assertTrue(refused.getMessage().contains("rpc.port"), refused.getMessage());
  }
}
