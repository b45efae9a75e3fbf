package org.stele.tserver.write;

import org.stele.core.data.Bytes;
import org.stele.core.data.Durability;
import org.stele.tserver.wal.WriteAheadLog;

/**
 * What the write path sees of a tablet. Every write that was placed is settled exactly once: by
 * {@link #apply} or by {@link #abandon}, in the order in which it was placed.
 */
public interface WriteTarget {
  /** Answer of {@link #place} if the tablet takes no writes; never a sequence. */
  long REFUSED = 0;

  String tabletId();

  String tableId();

  /** Epoch of the tablet's assignment. */
  int epoch();

  /** Whether its writes belong to the reserved class that users' load never refuses. */
  boolean isSystem();

  boolean contains(Bytes row);

  /** The table's durability. */
  Durability durability();

  /**
   * Where the memory of its writes is taken from; users' tablets and the system's have their own.
   */
  MemoryBudget memory();

  /** Slows writes down to this target alone. */
  Pace pace();

  /** The log that its writes go to. */
  WriteAheadLog log();

  /**
   * Gives a write its place in the order of the tablet; called on the thread wal-sync only.
   *
   * @param cells how many sequences it takes
   * @return its first sequence, or {@link #REFUSED}
   */
  long place(int cells);

  /**
   * The time for a write that was just placed, in milliseconds since 1970; never runs backwards.
   * Called on the thread wal-sync only.
   */
  long timestamp();

  /**
   * Makes a placed write visible, whole; called on the thread wal-apply only. The memory reserved
   * for its cells becomes the target's. If that throws, the target has settled the write in its own
   * way and serves nothing any more.
   */
  void apply(TabletWrite write);

  /**
   * A placed write will not be applied; called on the thread wal-apply only. Its memory is given
   * back by the write path.
   */
  void abandon(TabletWrite write);
}
