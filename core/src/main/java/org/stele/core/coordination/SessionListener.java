package org.stele.core.coordination;

/** Hears of the session's state. Called on ZooKeeper's event thread: must not block. */
@FunctionalInterface
public interface SessionListener {
  void stateChanged(SessionState state);
}
