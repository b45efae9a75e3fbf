package org.stele.core.settings;

import java.util.Locale;

/** Makes the reference of all settings (docs/settings.md) from {@link StandardSettings}. */
public final class SettingsReference {
  private SettingsReference() {}

  /** The whole page. */
  public static String markdown() {
    StringBuilder page = new StringBuilder(16 << 10);
    page.append("# Settings\n\n")
        .append(
            "Made from `StandardSettings`; `mvn -Pquick test -pl core -Dtest=SettingsReferenceTest"
                + " -Dstele.docs.write=true` writes it anew.\n\n")
        .append(
            "A server reads `conf/stele.properties` of its instance directory, one `name=value` a"
                + " line. What it says of `table` settings goes into each table that is made by way"
                + " of this server and is not given other values; a table keeps what it was made"
                + " with, on whatever server it is. An unknown name or a value that is not allowed"
                + " stops the start, or refuses the change, with the name, the value and the rule;"
                + " nothing is guessed or clamped.\n\n")
        .append("Scope: `instance` is the same on all servers, `server` may differ from server to")
        .append(" server, `table` may differ from table to table.\n");
    for (Setting<?> setting : StandardSettings.all()) {
      append(page, setting);
    }
    return page.toString();
  }

  private static void append(StringBuilder page, Setting<?> setting) {
    String defaultText =
        setting.defaultText().isEmpty() ? "blank" : '`' + setting.defaultText() + '`';
    page.append("\n## `").append(setting.name()).append("`\n\n");
    page.append(setting.description()).append("\n\n");
    page.append("Default ").append(defaultText);
    page.append("; ").append(setting.type().rule());
    page.append("; scope `").append(setting.scope().name().toLowerCase(Locale.ROOT));
    page.append("`; a change applies ");
    page.append(
        switch (setting.applies()) {
          case AT_RESTART -> "at restart";
          case FOR_NEW_TABLES -> "to tables made afterwards";
        });
    page.append(".\n");
  }
}
