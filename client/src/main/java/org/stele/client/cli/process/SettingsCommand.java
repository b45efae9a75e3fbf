package org.stele.client.cli.process;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Session;
import org.stele.core.settings.Setting;
import org.stele.core.settings.StandardSettings;
import picocli.CommandLine.Command;

@Command(
    name = "settings",
    description = "Print the settings a running server works with, each as it is in effect.")
final class SettingsCommand implements Callable<Integer> {
  private final CommandContext context;

  SettingsCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (Session session = context.connect()) {
      new TreeMap<>(session.settings()).forEach(this::print);
    }
    return 0;
  }

  private void print(String name, String value) {
    if (!context.json()) {
      context.out().line(name + " = " + value);
      return;
    }
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("name", name);
    object.put("value", value);
    Setting<?> setting = StandardSettings.byName().get(name);
    object.put("default", setting == null ? null : setting.defaultText());
    context.printJson(object);
  }
}
