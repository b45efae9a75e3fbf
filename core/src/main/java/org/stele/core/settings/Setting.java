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
    /**
     * For each table, which keeps what it was made with; a server's file has the defaults of the
     * tables that are made by way of this server.
     */
    TABLE
  }

  /** When a change has an effect. */
  public enum Applies {
    AT_RESTART,
    /** Tables that are made afterwards have it. */
    FOR_NEW_TABLES
  }
}
