package org.stele.core.data;

/** When a write is acknowledged; each is stronger than those before it. */
public enum Durability {
  /** Not logged: lost with the process. */
  NONE(1),
  /** Handed to the log: lost with the process if it ends before the log wrote it. */
  LOG(2),
  /** With the operating system: survives the end of the process. */
  FLUSH(3),
  /** On the disk: survives the end of the machine. */
  SYNC(4);

  private final int code;

  Durability(int code) {
    this.code = code;
  }

  /** Its number on the wire and in logs. */
  public int code() {
    return code;
  }

  public Durability strongerOf(Durability other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
