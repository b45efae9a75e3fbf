package org.stele.core.settings;

/**
 * One setting: its name, what it may be, and what it is if nobody says otherwise.
 *
 * @param defaultText as it would be written in a file
 * @param description one or two sentences for the reference, with the effect of larger and smaller
 *     values
 */
public record Setting<T>(
    String name,
    SettingType<T> type,
    String defaultText,
    Scope scope,
    Applies applies,
    String description) {

  /** The default as a value. */
  public T defaultValue() {
    return type.parse(name, defaultText);
  }

  /** Where a setting may be set. */
  public enum Scope {
    /** Once for the whole instance. */
    INSTANCE,
    /** For each server. */
    SERVER,
    /** For each table; in a server's file it is the default of new tables. */
    TABLE
  }

  /** When a change has an effect. */
  public enum Applies {
    AT_ONCE,
    AT_RESTART
  }
}
