package org.stele.core.settings;

/**
 * A setting that is unknown or not allowed; the message names it, its text and the rule it breaks.
 */
public final class SettingException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public SettingException(String message) {
    super(message);
  }
}
