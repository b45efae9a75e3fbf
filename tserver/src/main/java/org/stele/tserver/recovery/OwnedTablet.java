package org.stele.tserver.recovery;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.error.SteleException;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.tablet.Tablet;

/**
 * A tablet that the metadata has given to this server: what is known of its row, and how far its
 * opening has come. Thread-safe.
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
  private int attempts;

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

  /** An opening begins. Returns how many have failed before. */
  synchronized int begin(TabletRecord newRecord) {
    record = newRecord;
    replayedSequence = 0;
    tablet = null;
    return attempts++;
  }

  /** It is served. */
  synchronized void opened(Tablet newTablet, long newReplayedSequence) {
    tablet = newTablet;
    replayedSequence = newReplayedSequence;
    failure = null;
  }

  /** It cannot be opened now. */
  synchronized void failed(SteleException reason) {
    failure = reason;
  }

  /** Null while it is not open. */
  synchronized @Nullable Tablet tablet() {
    return tablet;
  }

  /** Why it could not be opened last time; null if it is open or was not tried. */
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
