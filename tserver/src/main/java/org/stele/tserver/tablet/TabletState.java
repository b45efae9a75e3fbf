package org.stele.tserver.tablet;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The life of a tablet on this server.
 *
 * <pre>
 *   OPENING ──► OPEN ──► CLOSING ──► CLOSED
 *      │          │         │
 *      └──────────┴─────────┴──────► FAILED ──► CLOSED
 * </pre>
 */
public enum TabletState {
  /** Reads its files and its part of the logs; takes nothing. */
  OPENING,
  /** Serves reads and writes. */
  OPEN,
  /** Serves reads; takes no more writes, and flushes. */
  CLOSING,
  CLOSED,
  /** Cannot go on, for a reason that it tells; serves nothing. */
  FAILED;

  private static final Map<TabletState, Set<TabletState>> MOVES = new EnumMap<>(TabletState.class);

  static {
    MOVES.put(OPENING, EnumSet.of(OPEN, FAILED, CLOSED));
    MOVES.put(OPEN, EnumSet.of(CLOSING, FAILED));
    MOVES.put(CLOSING, EnumSet.of(CLOSED, FAILED));
    MOVES.put(FAILED, EnumSet.of(CLOSED));
    MOVES.put(CLOSED, EnumSet.noneOf(TabletState.class));
  }

  boolean mayMoveTo(TabletState next) {
    return MOVES.getOrDefault(this, Set.of()).contains(next);
  }

  public boolean servesReads() {
    return this == OPEN || this == CLOSING;
  }
}
