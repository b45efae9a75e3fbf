package org.stele.tserver.wal;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Durability;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.tserver.wal.LogGroup.Fate;

/**
 * The first stage of a log: takes all that waits, places and encodes it, writes it in one go, syncs
 * once, and settles the group; changes files when it is due. Its loop is the thread {@code
 * wal-sync}; without it a test calls {@link #step}.
 */
final class LogSyncer {
  /** A group that has so many bytes (or as many as a file), or entries, takes no more. */
  private static final int GROUP_BYTES = 2 << 20;

  private static final int GROUP_ENTRIES = 8192;

  private final LogQueue queue;
  private final LogFileSequence files; // its methods: this thread only; its live(): thread-safe
  private final LogState state;
  private final LogApplier applier;
  private final LogMetrics metrics;
  private final Doorbell bell;
  private final long mostGroupBytes;

  // Thread-safe.
  private final Queue<CompletableFuture<Void>> rolls = new ConcurrentLinkedQueue<>();

  /** Nobody takes from the queue any more. */
  private volatile boolean ended;

  /** The group that is being written and synced. */
  private volatile @Nullable LogGroup inFlight;

  private volatile @Nullable Exception closeFailure;

  /**
   * @param bell rung when there may be something to do
   * @param fileBytes a file of this size is ended
   */
  LogSyncer(
      LogQueue queue,
      LogFileSequence files,
      LogState state,
      LogApplier applier,
      LogMetrics metrics,
      Doorbell bell,
      long fileBytes) {
    this.queue = queue;
    this.files = files;
    this.state = state;
    this.applier = applier;
    this.metrics = metrics;
    this.bell = bell;
    this.mostGroupBytes = Math.min(GROUP_BYTES, fileBytes);
  }

  /** Whether nobody takes from the queue any more. Any thread. */
  boolean hasEnded() {
    return ended;
  }

  /** Why the last file could not be completed; null if it was. After the end. */
  @Nullable Exception closeFailure() {
    return closeFailure;
  }

  /** Asks for a new file; any thread. */
  CompletableFuture<Void> requestRoll() {
    CompletableFuture<Void> roll = new CompletableFuture<>();
    rolls.add(roll);
    bell.ring();
    SteleException refusal = state.refusal();
    if (refusal != null) {
      roll.completeExceptionally(refusal);
    }
    return roll;
  }

  void run() {
    try {
      while (!(state.isClosing() && !hasWork())) {
        if (!step()) {
          bell.await(() -> hasWork() || state.isClosing());
        }
      }
    } finally {
      end();
    }
  }

  private boolean hasWork() {
    return !queue.isEmpty()
        || !rolls.isEmpty()
        || (state.broken() == null && files.live().hasUndeclared());
  }

  /**
   * Logs what waits, up to the size of a group, and does what is due with the files.
   *
   * @return whether there was anything to do
   */
  boolean step() {
    Exception cause = state.broken();
    if (cause != null) {
      return refuseWaiting(state.brokenException(cause));
    }
    boolean worked;
    try {
      worked = logGroup();
      worked |= changeFile();
      files.prepareNext();
    } catch (IOException | RuntimeException | Error e) {
      state.breakLog(e);
      worked = true;
    }
    return worked;
  }

  // ---- One group

  private boolean logGroup() throws IOException {
    LogFileWriter file = files.current();
    LogGroup group = fillGroup(file);
    boolean declares = files.live().hasUndeclared();
    if (group.isEmpty() && !declares) {
      return false;
    }
    if (group.strictest() == Durability.NONE && !declares) {
      settle(group, Fate.COMMITTED, null);
      return true;
    }
    long lowestLive = files.live().lowestNeeded();
    inFlight = group;
    Exception cause = state.broken();
    if (cause != null) { // a close that waits no longer may not have seen this group
      settle(group, Fate.REFUSED, state.brokenException(cause));
      return true;
    }
    try {
      file.writeGroup(declares ? Durability.SYNC : group.strictest(), lowestLive);
    } catch (IOException | RuntimeException | Error e) {
      groupFailed(group, file, e);
      return true;
    }
    metrics.groups.increment();
    files.succeeded();
    files.live().recorded(group);
    settle(group, Fate.COMMITTED, null);
    if (declares) {
      files.live().declared(lowestLive);
      files.deleteUnneeded();
    }
    return true;
  }

  private LogGroup fillGroup(LogFileWriter file) {
    LogGroup group = new LogGroup();
    file.startGroup();
    while (file.groupBytes() < mostGroupBytes && group.size() < GROUP_ENTRIES) {
      LogEntry entry = queue.poll();
      if (entry == null) {
        break;
      }
      placeAndEncode(entry, group, file);
    }
    return group;
  }

  /** An entry that cannot be logged keeps its place in the group, and is told there. */
  private void placeAndEncode(LogEntry entry, LogGroup group, LogFileWriter file) {
    try {
      if (!entry.place()) {
        queue.settled(entry.sizeHint(), 1);
        return;
      }
      if (entry.durability() != Durability.NONE) {
        file.add(entry);
      }
    } catch (RuntimeException | Error e) {
      group.addRefused(
          entry,
          new SteleException(
              ErrorCode.INTERNAL, "the write cannot be logged: " + e.getMessage(), e));
      return;
    }
    group.add(entry);
  }

  /** The group is told when the next file, which excludes it, is there. */
  private void groupFailed(LogGroup group, LogFileWriter file, Throwable cause) throws IOException {
    try {
      files.abandon(cause);
    } finally {
      settle(
          group,
          Fate.FAILED,
          new SteleException(
              ErrorCode.UNKNOWN_OUTCOME,
              file.path() + ": writing or syncing the log has failed: " + cause.getMessage(),
              cause));
    }
  }

  /** Hands a group over to be told, unless that was done already. */
  private void settle(LogGroup group, Fate fate, @Nullable Exception cause) {
    if (group.settle(fate, cause) && !group.isEmpty()) {
      applier.settled(group);
    }
    inFlight = null;
  }

  // ---- Files

  private boolean changeFile() throws IOException {
    CompletableFuture<Void> roll = rolls.poll();
    boolean asked = roll != null && !files.current().isEmpty();
    try {
      if (asked || files.currentIsFull()) {
        files.roll();
        files.deleteUnneeded();
      }
    } catch (IOException | RuntimeException | Error e) {
      if (roll != null) {
        roll.completeExceptionally(e);
      }
      throw e;
    }
    if (roll != null) {
      roll.complete(null);
    }
    return roll != null;
  }

  // ---- The end

  private boolean refuseWaiting(Exception reason) {
    boolean any = false;
    for (CompletableFuture<Void> roll = rolls.poll(); roll != null; roll = rolls.poll()) {
      roll.completeExceptionally(reason);
      any = true;
    }
    LogGroup group = new LogGroup();
    for (LogEntry entry = queue.poll(); entry != null; entry = queue.poll()) {
      group.add(entry);
      any = true;
    }
    settle(group, Fate.REFUSED, reason);
    return any;
  }

  /** Completes the current file, and tells those who came too late. */
  private void end() {
    if (state.broken() == null) {
      try {
        files.finish();
      } catch (IOException | RuntimeException e) {
        closeFailure = e;
      }
    }
    files.release();
    endQueue();
  }

  private void endQueue() {
    ended = true;
    refuseWaiting(LogState.closedException());
  }

  /**
   * The disk does not answer: all that wait are told, and the thread is left to itself. Called by
   * who closes the log, after the log is broken.
   */
  void giveUp(SteleException reason) {
    LogGroup stuck = inFlight;
    if (stuck != null) {
      settle(stuck, Fate.FAILED, reason);
    }
    endQueue();
  }
}
