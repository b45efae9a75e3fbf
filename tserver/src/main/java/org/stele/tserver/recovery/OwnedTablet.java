package org.stele.tserver.recovery;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.SteleException;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.tablet.Tablet;

/**
 * A tablet that the metadata has given to this server: what is known of its row, and how far its
 * opening has come. It is being opened from the beginning and in each attempt; between attempts it
 * can be taken away, and then no attempt begins any more. Thread-safe.
 */
final class OwnedTablet {
  private final String tabletId;

  @GuardedBy("this")
  private @Nullable TabletRecord record;

  @GuardedBy("this")
  private long replayedSequence;

  @GuardedBy("this")
  private @Nullable Tablet tablet;

  @GuardedBy("this")
  private @Nullable SteleException failure;

  @GuardedBy("this")
  private int failures;

  @GuardedBy("this")
  private boolean opening = true;

  @GuardedBy("this")
  private boolean takenAway;

  OwnedTablet(String tabletId) {
    this.tabletId = tabletId;
  }

  String tabletId() {
    return tabletId;
  }

  /** The tablet's row as it was when the opening began. */
  synchronized TabletRecord record() {
    if (record == null) {
      throw new IllegalStateException("the row of tablet " + tabletId + " was not read yet");
    }
    return record;
  }

  /** An attempt to open it begins; false: it was taken away meanwhile. */
  synchronized boolean begin(TabletRecord newRecord) {
    if (takenAway) {
      return false;
    }
    record = newRecord;
    replayedSequence = 0;
    opening = true;
    return true;
  }

  /** It is served. */
  synchronized void opened(Tablet newTablet, long newReplayedSequence) {
    tablet = newTablet;
    replayedSequence = newReplayedSequence;
    opening = false;
    failure = null;
  }

  /** The attempt has failed. Returns how many have. */
  synchronized int failed(SteleException reason) {
    opening = false;
    failure = reason;
    return ++failures;
  }

  /** Takes it away for good; false: it is open, or just being opened. */
  synchronized boolean takeAway() {
    if (opening || tablet != null) {
      return false;
    }
    takenAway = true;
    return true;
  }

  /** Null while it is not open. */
  synchronized @Nullable Tablet tablet() {
    return tablet;
  }

  /** Why the last attempt failed; null if it is open or none has failed. */
  synchronized @Nullable SteleException failure() {
    return failure;
  }

  /** What a flush must cover before the logs of former servers are not needed any more. */
  synchronized long replayedSequence() {
    return replayedSequence;
  }

  /** Its row refers to no logs of former servers any more. */
  synchronized void logsAreNotNeeded() {
    if (record != null) {
      record = record.withLogs(List.of());
    }
  }
}
