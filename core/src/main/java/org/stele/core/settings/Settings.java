package org.stele.core.settings;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Values of settings, each checked when this was made; what is not given has its default. Immutable
 * and thread-safe. The settings there are: {@link StandardSettings}.
 */
public final class Settings {
  private final Map<String, Object> values;
  private final Map<String, String> given;

  private Settings(Map<String, Object> values, Map<String, String> given) {
    this.values = Map.copyOf(values);
    this.given = Map.copyOf(given);
  }

  public static Settings defaults() {
    return of(Map.of());
  }

  /**
   * Checks all given texts.
   *
   * @throws SettingException listing every unknown name (with the nearest known one) and every text
   *     not allowed
   */
  public static Settings of(Map<String, String> given) {
    Map<String, Object> values = new LinkedHashMap<>();
    List<String> problems = new ArrayList<>();
    new TreeMap<>(given)
        .forEach(
            (name, text) -> {
              Setting<?> setting = StandardSettings.byName().get(name);
              if (setting == null) {
                problems.add(
                    "there is no setting "
                        + name
                        + "; the nearest is "
                        + StandardSettings.nearest(name));
                return;
              }
              try {
                values.put(name, setting.type().parse(name, text));
              } catch (SettingException e) {
                problems.add(e.getMessage());
              }
            });
    if (!problems.isEmpty()) {
      throw new SettingException(String.join("; ", problems));
    }
    for (Setting<?> setting : StandardSettings.all()) {
      values.computeIfAbsent(setting.name(), name -> setting.defaultValue());
    }
    return new Settings(values, given);
  }

  /** These settings with others over them. */
  public Settings with(Map<String, String> over) {
    Map<String, String> merged = new LinkedHashMap<>(given);
    merged.putAll(over);
    return of(merged);
  }

  @SuppressWarnings("unchecked") // of() put the value of this setting's type there
  public <T> T get(Setting<T> setting) {
    Object value = values.get(setting.name());
    if (value == null) {
      throw new IllegalArgumentException(setting.name() + " is not among the standard settings");
    }
    return (T) value;
  }

  /** What was given, as it was written; without defaults. */
  public Map<String, String> given() {
    return given;
  }

  /** Every setting with its text, given or default, in order of name. */
  public Map<String, String> effective() {
    return texts(StandardSettings.all().stream());
  }

  /** Every setting of a scope with its text, given or default, in order of name. */
  public Map<String, String> effective(Setting.Scope scope) {
    return texts(StandardSettings.all().stream().filter(setting -> setting.scope() == scope));
  }

  private Map<String, String> texts(Stream<Setting<?>> settings) {
    return settings.collect(
        Collectors.toMap(
            Setting::name,
            setting -> given.getOrDefault(setting.name(), setting.defaultText()),
            (a, b) -> a,
            TreeMap::new));
  }
}
