package org.stele.tserver.wal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.data.Durability;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.FileStore;
import org.stele.core.time.Clock;
import org.stele.tserver.wal.LogGroup.Fate;

/**
 * The write-ahead log with group commit: many writes, one sync.
 *
 * <pre>
 *   callers ── append ──► waiting ──► wal-sync ──► settled ──► wal-apply ──► committed / failed
 *                        (bounded)   place, encode            (in the same order)
 *                                    write once, sync once
 * </pre>
 *
 * <p><b>The idea.</b> While one group is being synced the next one gathers in {@code waiting}; so
 * the slower the disk, the larger the groups, and a lone writer waits for nothing but its own sync.
 * The first arrival wakes {@code wal-sync}; nothing polls.
 *
 * <p><b>What always holds.</b>
 *
 * <ol>
 *   <li>An entry gets its sequence when it is placed, on one thread: order in the log = order of
 *       sequences = order of {@code committed}. Entries that are not logged keep their place in it.
 *   <li>{@code committed} comes after the write and, if any entry of the group asks for it, the
 *       sync that cover the entry <i>and all before it</i> in this file; a new file is begun only
 *       after the old one is synced to its end.
 *   <li>After a failed write or sync nobody knows what the disk holds. So the file is never touched
 *       again, all of the group fail with an unknown outcome, and they are told only when the
 *       header of the next file, which excludes them, is on the disk: nothing that was reported as
 *       failed comes back after a crash. (The log itself breaking in that moment is the exception:
 *       then the server stops, and recovery decides.)
 *   <li>If the next file cannot be begun either the log is broken for good: everything that waits
 *       or comes later is refused, and {@code onBroken} has the server stop.
 *   <li>Every entry that was taken hears exactly once from the log, whatever happens; close is
 *       bounded even if a sync never returns.
 * </ol>
 *
 * <p>A file that failed may have held groups that were acknowledged with less than {@code sync}.
 * They stay visible, and recovery finds them if the disk has them: that is what was asked for.
 *
 * <p><b>Dropped.</b> Encoding by the callers, in parallel (as with a ring buffer), spares {@code
 * wal-sync} some copying, but then sequences are handed out before the order is fixed, and a slow
 * caller holds up all behind it. Applying on {@code wal-sync} spares a hand-over, but the disk is
 * idle meanwhile.
 *
 * <p>Threads: {@code wal-sync}, {@code wal-apply} and {@code wal-files} (makes, completes and
 * deletes files), each with the prefix of the options; owned by this class. Without {@link #start}
 * there are none, and a test calls {@link #syncStep} and {@link #applyStep}.
 */
public final class GroupCommitLog implements WriteAheadLog {
  private static final Logger LOG = LoggerFactory.getLogger(GroupCommitLog.class);

  /** A group that has so many bytes (or as many as a file), or entries, takes no more. */
  private static final int GROUP_BYTES = 2 << 20;

  private static final int GROUP_ENTRIES = 8192;
  private static final int WAITING_ENTRIES = 1 << 18;

  // Constant.
  private final Options options;
  private final LogMetrics metrics;
  private final LogFileSequence files; // its methods: wal-sync only; its live(): thread-safe
  private final @Nullable ExecutorService helper;
  private final Consumer<Exception> onBroken;
  private final Consumer<Runnable> aroundGroup;
  private final @Nullable Thread syncThread;
  private final @Nullable Thread applyThread;

  // Thread-safe.
  private final Queue<LogEntry> waiting = new ConcurrentLinkedQueue<>();
  private final Queue<LogGroup> settled = new ConcurrentLinkedQueue<>();
  private final Queue<CompletableFuture<Void>> rolls = new ConcurrentLinkedQueue<>();
  private final Doorbell syncBell = new Doorbell();
  private final Doorbell applyBell = new Doorbell();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicInteger waitingEntries = new AtomicInteger();
  private final AtomicReference<@Nullable Exception> broken = new AtomicReference<>();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** Nobody takes from {@code waiting} any more. */
  private volatile boolean syncEnded;

  /** Nothing more comes into {@code settled}, unless close gave up a thread that comes back. */
  private volatile boolean applyMayEnd;

  /** Who puts a group into {@code settled} now has to tell it itself. */
  private volatile boolean applyEnded;

  /** Why nothing is applied any more; written by wal-apply. */
  private volatile @Nullable SteleException applyFailure;

  /** The group that is being written and synced. */
  private volatile @Nullable LogGroup inFlight;

  private volatile @Nullable IOException closeFailure;

  /**
   * @param directory of this log in the file store; exists, and holds no log
   * @param session names this run of the server in the files
   * @param threadPrefix before the names of the threads: blank, or "meta-"
   * @param fileBytes a file of this size is ended
   * @param queueBytes most bytes of entries waiting
   * @param closeTimeout how long close waits for a disk that does not answer
   */
  public record Options(
      String directory,
      String instanceId,
      String session,
      String threadPrefix,
      long fileBytes,
      long queueBytes,
      Duration closeTimeout) {
    public Options {
      if (fileBytes < 1 || queueBytes < 1) {
        throw new IllegalArgumentException(
            "sizes must be positive: file " + fileBytes + ", queue " + queueBytes);
      }
    }
  }

  /**
   * Begins the log's first file and starts its threads.
   *
   * @param salts random numbers, one per file
   * @param onBroken called once, on one of the log's threads, when it can take nothing any more; it
   *     must not block
   * @param aroundGroup runs what tells the entries of one group of their fate, at once: so that
   *     their answers can be sent together
   */
  public static GroupCommitLog start(
      FileStore store,
      Options options,
      Clock clock,
      LongSupplier salts,
      Consumer<Exception> onBroken,
      Consumer<Runnable> aroundGroup)
      throws IOException {
    ExecutorService helper =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> daemon(task, options.threadPrefix() + "wal-files"));
    try {
      GroupCommitLog log =
          new GroupCommitLog(store, options, clock, salts, onBroken, aroundGroup, helper, helper);
      requireNonNull(log.syncThread).start();
      requireNonNull(log.applyThread).start();
      return log;
    } catch (IOException | RuntimeException e) {
      helper.shutdown();
      throw e;
    }
  }

  /** As above; each entry is told by itself. */
  public static GroupCommitLog start(
      FileStore store,
      Options options,
      Clock clock,
      LongSupplier salts,
      Consumer<Exception> onBroken)
      throws IOException {
    return start(store, options, clock, salts, onBroken, Runnable::run);
  }

  /** A log without threads: what is for the helper is done at once. */
  static GroupCommitLog withoutThreads(
      FileStore store,
      Options options,
      Clock clock,
      LongSupplier salts,
      Consumer<Exception> onBroken)
      throws IOException {
    return new GroupCommitLog(
        store, options, clock, salts, onBroken, Runnable::run, Runnable::run, null);
  }

  private GroupCommitLog(
      FileStore store,
      Options options,
      Clock clock,
      LongSupplier salts,
      Consumer<Exception> onBroken,
      Consumer<Runnable> aroundGroup,
      Executor helper,
      @Nullable ExecutorService ownedHelper)
      throws IOException {
    if (!store.canSync()) {
      throw new IOException(
          store.root() + " cannot sync, so no write could be kept: not used for logs");
    }
    this.options = options;
    this.metrics = new LogMetrics(clock);
    this.onBroken = onBroken;
    this.aroundGroup = aroundGroup;
    this.helper = ownedHelper;
    this.files = new LogFileSequence(store, options, metrics, salts, helper);
    boolean threads = ownedHelper != null;
    this.syncThread = threads ? daemon(this::runSync, options.threadPrefix() + "wal-sync") : null;
    this.applyThread =
        threads ? daemon(this::runApply, options.threadPrefix() + "wal-apply") : null;
    files.open();
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  // ---- Any thread

  @Override
  public boolean append(LogEntry entry) {
    Exception reason = whyNothingIsTaken();
    if (reason != null) {
      refuse(entry, reason);
      return true;
    }
    if (!reserve(entry.sizeHint())) {
      metrics.full.increment();
      return false;
    }
    metrics.appends.increment();
    waiting.add(entry);
    syncBell.ring();
    if (syncEnded && waiting.remove(entry)) {
      release(entry.sizeHint());
      refuse(entry, closedException());
    }
    return true;
  }

  private @Nullable Exception whyNothingIsTaken() {
    Exception cause = broken.get();
    if (cause != null) {
      return brokenException(cause);
    }
    return closing.get() ? closedException() : null;
  }

  private boolean reserve(int bytes) {
    long before = waitingBytes.getAndAdd(bytes);
    boolean fits =
        waitingEntries.incrementAndGet() <= WAITING_ENTRIES
            && (before == 0 || before + bytes <= options.queueBytes());
    if (!fits) {
      release(bytes);
    }
    return fits;
  }

  private void release(long bytes) {
    waitingBytes.addAndGet(-bytes);
    waitingEntries.decrementAndGet();
  }

  @Override
  public long waitingBytes() {
    return waitingBytes.get();
  }

  @Override
  public Optional<Exception> broken() {
    return Optional.ofNullable(broken.get());
  }

  @Override
  public List<LogFile> files() {
    return files.live().files();
  }

  @Override
  public LogMetrics metrics() {
    return metrics;
  }

  @Override
  public void flushed(String tabletId, long sequence) {
    if (files.live().flushed(tabletId, sequence)) {
      syncBell.ring();
    }
  }

  @Override
  public void roll() throws IOException {
    NonBlocking.assertMayBlock();
    try {
      requestRoll().get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the log was rolled", e);
    } catch (ExecutionException e) {
      throw new IOException("the log could not be rolled", e.getCause());
    }
  }

  CompletableFuture<Void> requestRoll() {
    CompletableFuture<Void> roll = new CompletableFuture<>();
    rolls.add(roll);
    syncBell.ring();
    Exception reason = whyNothingIsTaken();
    if (reason != null) {
      roll.completeExceptionally(reason);
    }
    return roll;
  }

  // ---- wal-sync

  private void runSync() {
    try {
      while (!(closing.get() && !syncHasWork())) {
        if (!syncStep()) {
          syncBell.await(() -> syncHasWork() || closing.get());
        }
      }
    } finally {
      endSync();
    }
  }

  private boolean syncHasWork() {
    return !waiting.isEmpty()
        || !rolls.isEmpty()
        || (broken.get() == null && files.live().hasUndeclared());
  }

  /**
   * Logs what waits, up to the size of a group, and does what is due with the files.
   *
   * @return whether there was anything to do
   */
  boolean syncStep() {
    Exception cause = broken.get();
    if (cause != null) {
      return refuseWaiting(brokenException(cause));
    }
    boolean worked;
    try {
      worked = logGroup();
      worked |= changeFile();
      files.prepareNext();
    } catch (IOException | RuntimeException | Error e) {
      breakLog(e);
      worked = true;
    }
    return worked;
  }

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
    Durability durability = declares ? Durability.SYNC : group.strictest();
    inFlight = group;
    Exception cause = broken.get();
    if (cause
        != null) { // by a close that does not wait any longer, and may not have seen this group
      settle(group, Fate.REFUSED, brokenException(cause));
      return true;
    }
    try {
      file.writeGroup(durability, lowestLive);
    } catch (IOException | RuntimeException | Error e) {
      groupFailed(group, file, e);
      return true;
    }
    metrics.groups.increment();
    files.succeeded();
    files.live().recorded(group.entries());
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
    long most = Math.min(GROUP_BYTES, options.fileBytes());
    while (file.groupBytes() < most && group.size() < GROUP_ENTRIES) {
      LogEntry entry = waiting.poll();
      if (entry == null) {
        break;
      }
      placeAndEncode(entry, group, file);
    }
    return group;
  }

  private void placeAndEncode(LogEntry entry, LogGroup group, LogFileWriter file) {
    try {
      if (!entry.place()) {
        release(entry.sizeHint());
        return;
      }
      if (entry.durability() != Durability.NONE) {
        file.add(entry);
      }
    } catch (RuntimeException | Error e) {
      LogGroup alone = new LogGroup();
      alone.add(entry);
      settle(
          alone,
          Fate.REFUSED,
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
      settled.add(group);
      applyBell.ring();
      if (applyEnded) {
        applyAll();
      }
    }
    inFlight = null;
  }

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

  /** The end of the log: everything that waits or comes is refused. Any of the log's threads. */
  private void breakLog(Throwable cause) {
    Exception reason =
        cause instanceof Exception exception
            ? exception
            : new IllegalStateException("the write-ahead log stopped", cause);
    if (broken.compareAndSet(null, reason)) {
      LOG.error("{}: the write-ahead log is broken", options.directory(), reason);
      try {
        onBroken.accept(reason);
      } finally {
        syncBell.ring();
      }
    }
  }

  private boolean refuseWaiting(Exception reason) {
    boolean any = false;
    for (CompletableFuture<Void> roll = rolls.poll(); roll != null; roll = rolls.poll()) {
      roll.completeExceptionally(reason);
      any = true;
    }
    LogGroup group = new LogGroup();
    for (LogEntry entry = waiting.poll(); entry != null; entry = waiting.poll()) {
      group.add(entry);
      any = true;
    }
    settle(group, Fate.REFUSED, reason);
    return any;
  }

  /** Completes the current file, and tells those who came too late. */
  private void endSync() {
    if (broken.get() == null) {
      try {
        files.finish();
      } catch (IOException | RuntimeException e) {
        closeFailure = new IOException(options.directory() + ": closing the log has failed", e);
      }
    }
    files.release();
    syncEnded = true;
    refuseWaiting(closedException());
  }

  // ---- wal-apply

  private void runApply() {
    while (!(applyMayEnd && settled.isEmpty())) {
      if (!applyStep()) {
        applyBell.await(() -> applyMayEnd || !settled.isEmpty());
      }
    }
    applyEnded = true;
    applyAll();
  }

  private void applyAll() {
    while (applyStep()) {
      // until nothing is left
    }
  }

  /**
   * Tells the entries of the next group what became of them.
   *
   * @return whether there was one
   */
  boolean applyStep() {
    LogGroup group = settled.poll();
    if (group == null) {
      return false;
    }
    aroundGroup.accept(() -> tellAll(group));
    waitingBytes.addAndGet(-group.bytes());
    waitingEntries.addAndGet(-group.size());
    return true;
  }

  private void tellAll(LogGroup group) {
    for (LogEntry entry : group.entries()) {
      tell(entry, group);
    }
  }

  /** An entry that throws has left its tablet in an unknown state: nothing is applied after it. */
  private void tell(LogEntry entry, LogGroup group) {
    Exception cause = group.cause();
    SteleException stopped = applyFailure;
    try {
      if (group.fate() == Fate.REFUSED) {
        refuse(entry, requireNonNull(cause));
      } else if (cause != null || stopped != null) {
        metrics.failed.increment();
        entry.failed(cause == null ? requireNonNull(stopped) : cause);
      } else {
        entry.committed();
        metrics.committed.increment();
      }
    } catch (RuntimeException | Error e) {
      SteleException failure =
          new SteleException(
              ErrorCode.UNKNOWN_OUTCOME, "a write is logged but could not be applied", e);
      applyFailure = failure;
      breakLog(failure);
      if (stopped == null && cause == null) {
        tell(entry, group);
      }
    }
  }

  private void refuse(LogEntry entry, Exception reason) {
    metrics.refused.increment();
    entry.refused(reason);
  }

  // ---- Closing

  @Override
  public void close() throws IOException {
    if (isOwnThread()) {
      throw new IllegalStateException("a log cannot be closed by one of its own threads");
    }
    if (closing.compareAndSet(false, true)) {
      try {
        closeOnce();
      } finally {
        closed.complete(null);
      }
    } else {
      closed.join();
    }
    IOException failure = closeFailure;
    if (failure != null) {
      throw failure;
    }
  }

  private void closeOnce() {
    syncBell.ring();
    if (syncThread == null) {
      runSync();
    } else if (!endsInTime(syncThread)) {
      giveUp();
    }
    applyMayEnd = true;
    applyBell.ring();
    if (applyThread == null) {
      runApply();
    } else if (!endsInTime(applyThread)) {
      closeFailure = new IOException(applyThread.getName() + " did not end in time");
    }
    if (helper != null) {
      helper.shutdown();
      awaitHelper(helper);
    }
  }

  /** The disk does not answer: all that wait are told, and the threads left to themselves. */
  private void giveUp() {
    String what =
        options.directory() + ": the disk did not answer within " + options.closeTimeout();
    IOException reason = new IOException(what);
    closeFailure = reason;
    breakLog(reason);
    LogGroup stuck = inFlight;
    if (stuck != null) {
      settle(stuck, Fate.FAILED, new SteleException(ErrorCode.UNKNOWN_OUTCOME, what, reason));
    }
    syncEnded = true;
    refuseWaiting(closedException());
  }

  private boolean endsInTime(Thread thread) {
    try {
      thread.join(options.closeTimeout().toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }

  private void awaitHelper(ExecutorService service) {
    try {
      if (!service.awaitTermination(options.closeTimeout().toMillis(), TimeUnit.MILLISECONDS)
          && closeFailure == null) {
        closeFailure = new IOException(options.directory() + ": files are not closed in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isOwnThread() {
    Thread self = Thread.currentThread();
    return self == syncThread || self == applyThread;
  }

  private static SteleException closedException() {
    return new SteleException(ErrorCode.UNAVAILABLE, "the write-ahead log is closed");
  }

  private SteleException brokenException(Exception cause) {
    return new SteleException(
        ErrorCode.UNAVAILABLE,
        options.directory() + ": the write-ahead log is broken: " + cause.getMessage(),
        cause);
  }
}
