package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.stele.core.time.Clock;

/**
 * Who may write a line to the log now: each about once a second, so that nobody is silenced by
 * another one's lines. So many at a time have a turn of their own; further ones share one. What was
 * silenced is counted for the next line. Thread-safe.
 */
final class LineTurns<K> {
  /** No line now. */
  static final long SILENT = -1;

  private static final long INTERVAL_NANOS = 1_000_000_000;

  private final int most;
  private final Clock clock;

  @GuardedBy("this")
  private final Map<K, Turn> turns = new HashMap<>();

  @GuardedBy("this")
  private final Turn others;

  private static final class Turn {
    long nextNanos;
    long silenced;

    Turn(long now) {
      nextNanos = now;
    }
  }

  /**
   * @param most that have turns of their own
   */
  LineTurns(int most, Clock clock) {
    this.most = most;
    this.clock = clock;
    others = new Turn(clock.nanos());
  }

  /** How many lines were silenced since the last one of this turn, or {@link #SILENT}. */
  synchronized long take(K key) {
    long now = clock.nanos();
    Turn turn = turnLocked(key, now);
    if (now - turn.nextNanos < 0) {
      turn.silenced++;
      return SILENT;
    }
    turn.nextNanos = now + INTERVAL_NANOS;
    long silenced = turn.silenced;
    turn.silenced = 0;
    return silenced;
  }

  @GuardedBy("this")
  private Turn turnLocked(K key, long now) {
    Turn turn = turns.get(key);
    if (turn != null) {
      return turn;
    }
    if (turns.size() >= most) {
      forgetSilentLocked(now);
    }
    if (turns.size() >= most) {
      return others;
    }
    Turn own = new Turn(now);
    turns.put(key, own);
    return own;
  }

  /** Turns that silence nobody any more; what they silenced is told by the shared one. */
  @GuardedBy("this")
  private void forgetSilentLocked(long now) {
    for (Iterator<Turn> all = turns.values().iterator(); all.hasNext(); ) {
      Turn turn = all.next();
      if (now - turn.nextNanos >= 0) {
        others.silenced += turn.silenced;
        all.remove();
      }
    }
  }
}
