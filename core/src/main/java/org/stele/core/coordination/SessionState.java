package org.stele.core.coordination;

/** How the ZooKeeper session is. */
public enum SessionState {
  CONNECTED,
  /** The connection is lost; the session lives on for the rest of its timeout. */
  SUSPENDED,
  /** The session is over, or must be taken to be: it had no connection for its whole timeout. */
  EXPIRED
}
