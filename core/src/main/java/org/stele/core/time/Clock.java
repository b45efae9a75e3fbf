package org.stele.core.time;

/** Time as handed to a component, so that tests can move it. Thread-safe. */
public interface Clock {
  /** Milliseconds since 1970; may step backwards. */
  long wallMillis();

  /** Nanoseconds on a scale of its own that never runs backwards; for durations and deadlines. */
  long nanos();

  /** The clock of this machine. */
  static Clock system() {
    return SystemClock.INSTANCE;
  }
}
