package org.stele.tserver.bench;

import java.util.Locale;

/** What happens to a server in a soak. */
enum SoakEvent {
  /** A healthy call of Stele's client, whose answer is checked. */
  CALL,
  /** A call of Stele's client with hardly any time; an answer and none are right. */
  TIMEOUT,
  /** A connection of plain Thrift, one call whose answer is checked, and an end. */
  CONNECT,
  /** An end in the middle of a frame. */
  CUT,
  /** A reset, in the middle of a frame or before an answer was read. */
  RESET,
  /** Whoever makes it says no more after its call, and reads the answer. */
  HALF_CLOSE,
  /** A connection that says nothing, or has greeted, and stays for a while. */
  SILENT,
  /** First bytes that are no call: the server closes the connection. */
  JUNK;

  /** As people and JSON have it. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
