package org.stele.tserver.coordinator;

import java.util.Locale;

/**
 * How a tablet is on its server, as it travels: the state, and for one that cannot be served a
 * blank and the reason.
 *
 * @param reason empty if there is none
 */
public record TabletStatus(State state, String reason) {
  /** Of a tablet on its server. */
  public enum State {
    OPENING,
    OPEN,
    CLOSING,
    CLOSED,
    FAILED
  }

  public boolean isOpen() {
    return state == State.OPEN;
  }

  public String toText() {
    String name = state.name().toLowerCase(Locale.ROOT);
    return reason.isEmpty() ? name : name + " " + reason;
  }

  /**
   * Reads what {@link #toText} gives.
   *
   * @throws IllegalArgumentException for an unknown state
   */
  public static TabletStatus parse(String text) {
    int blank = text.indexOf(' ');
    String name = blank < 0 ? text : text.substring(0, blank);
    return new TabletStatus(
        State.valueOf(name.toUpperCase(Locale.ROOT)), blank < 0 ? "" : text.substring(blank + 1));
  }
}
