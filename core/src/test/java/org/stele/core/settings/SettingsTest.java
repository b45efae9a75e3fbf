package org.stele.core.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.stele.core.data.Durability;

class SettingsTest {
  private static final List<String> BAD_VALUES =
      List.of(
          "",
          "abc",
          "-1",
          "5 m",
          "10 parsecs",
          "1O24",
          "99999999999999999999",
          "3X",
          "1.5",
          "0x10");

  /** Settings that are free text, with the bad values that are good for them. */
  private static final Map<String, Set<String>> GOOD_AFTER_ALL =
      Map.of(
          "root.uri", Set.of(""),
          "rpc.server.type", Set.of(""),
          "rpc.advertise.address", hostLike(""),
          "rpc.tls.certificate", Set.copyOf(BAD_VALUES),
          "rpc.tls.key", Set.copyOf(BAD_VALUES),
          "rpc.tls.password.file", Set.copyOf(BAD_VALUES),
          "rpc.tls.trust", Set.copyOf(BAD_VALUES),
          "rpc.tenant.weights", Set.of(""),
          "rpc.bind.address", hostLike("abc"),
          "zookeeper.bind.address", hostLike("abc"));

  private static Set<String> hostLike(String other) {
    Set<String> good = new HashSet<>();
    good.addAll(List.of("abc", "-1", "1O24", "99999999999999999999", "3X", "1.5", "0x10", other));
    return good;
  }

  static List<Setting<?>> settings() {
    return StandardSettings.all();
  }

  @ParameterizedTest
  @MethodSource("settings")
  void badValuesAreRefusedByName(Setting<?> setting) {
    for (String bad : BAD_VALUES) {
      if (GOOD_AFTER_ALL.getOrDefault(setting.name(), Set.of()).contains(bad)) {
        continue;
      }
      SettingException e =
          assertThrows(
              SettingException.class,
              () -> Settings.of(Map.of(setting.name(), bad)),
              setting.name() + " = '" + bad + "'");
      assertTrue(e.getMessage().contains(setting.name()), e.getMessage());
      assertTrue(e.getMessage().contains("'" + bad + "'"), e.getMessage());
      assertTrue(e.getMessage().contains(setting.type().rule()), e.getMessage());
    }
  }

  @ParameterizedTest
  @MethodSource("settings")
  void blanksAroundAValueAreRefused(Setting<?> setting) {
    String good = setting.defaultText().isEmpty() ? "x" : setting.defaultText();
    for (String bad : List.of(" " + good, good + " ", "\t" + good, good + "\n", "\u00a0" + good)) {
      assertThrows(SettingException.class, () -> Settings.of(Map.of(setting.name(), bad)));
    }
  }

  @ParameterizedTest
  @MethodSource("settings")
  void theDefaultIsAllowedAndDescribed(Setting<?> setting) {
    Settings settings = Settings.of(Map.of(setting.name(), setting.defaultText()));
    assertEquals(setting.defaultValue(), settings.get(setting));
    assertEquals(setting.defaultText(), settings.effective().get(setting.name()));
    assertTrue(setting.name().matches("[a-z]+(\\.[a-z]+)+"), setting.name());
    assertTrue(setting.description().endsWith("."), setting.description());
    assertFalse(setting.type().rule().isBlank());
  }

  @ParameterizedTest
  @MethodSource("settings")
  void aTypoIsRefusedWithTheNearestName(Setting<?> setting) {
    String typo = setting.name() + "x";
    SettingException e = assertThrows(SettingException.class, () -> Settings.of(Map.of(typo, "1")));
    assertTrue(e.getMessage().contains(typo), e.getMessage());
    assertTrue(e.getMessage().endsWith(" " + setting.name()), e.getMessage());
    assertThrows(
        SettingException.class,
        () -> Settings.of(Map.of(setting.name().toUpperCase(Locale.ROOT), "1")));
  }

  @Test
  void thereAreNotTooMany() {
    assertTrue(StandardSettings.all().size() < 60, StandardSettings.all().size() + " settings");
    assertEquals(StandardSettings.all().size(), StandardSettings.byName().size());
  }

  @Test
  void allProblemsAreListedAtOnce() {
    SettingException e =
        assertThrows(
            SettingException.class,
            () -> Settings.of(Map.of("rpc.prot", "1", "rpc.workers", "many", "wal.size", "1")));
    assertTrue(e.getMessage().contains("rpc.port"), e.getMessage());
    assertTrue(e.getMessage().contains("'many'"), e.getMessage());
    assertTrue(e.getMessage().contains("wal.size = '1'"), e.getMessage());
  }

  @Test
  void valuesAreTyped() {
    Settings settings =
        Settings.of(
            new TreeMap<>(
                Map.of(
                    "wal.size", "1G",
                    "rpc.idle.timeout", "90s",
                    "table.durability", "flush",
                    "rpc.workers", "7")));
    assertEquals(1L << 30, settings.get(StandardSettings.WAL_SIZE));
    assertEquals(Duration.ofSeconds(90), settings.get(StandardSettings.RPC_IDLE_TIMEOUT));
    assertEquals(Durability.FLUSH, settings.get(StandardSettings.TABLE_DURABILITY));
    assertEquals(7, settings.get(StandardSettings.RPC_WORKERS));
    assertEquals(9640, settings.get(StandardSettings.RPC_PORT));
  }

  @Test
  void boundsAreExact() {
    assertEquals(
        255L << 20,
        Settings.of(Map.of("rpc.frame.max", "255M")).get(StandardSettings.RPC_FRAME_MAX));
    for (String beyond : List.of("256M", "1G", "63K", "0B")) {
      assertThrows(
          SettingException.class, () -> Settings.of(Map.of("rpc.frame.max", beyond)), beyond);
    }
    assertThrows(SettingException.class, () -> Settings.of(Map.of("rpc.port", "65536")));
    assertThrows(SettingException.class, () -> Settings.of(Map.of("wal.size", "999999999999999G")));
  }

  @Test
  void othersLieOver() {
    Settings base = Settings.of(Map.of("rpc.workers", "7", "rpc.port", "1"));
    Settings over = base.with(Map.of("rpc.workers", "8"));
    assertEquals(8, over.get(StandardSettings.RPC_WORKERS));
    assertEquals(1, over.get(StandardSettings.RPC_PORT));
    assertEquals(7, base.get(StandardSettings.RPC_WORKERS));
    assertEquals(Map.of("rpc.workers", "8", "rpc.port", "1"), over.given());
    assertThrows(SettingException.class, () -> base.with(Map.of("rpc.port", "no")));
  }
}
