package org.stele.tserver.wal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.concurrent.NonBlocking;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.FileStore;
import org.stele.core.time.Clock;

/**
 * The write-ahead log with group commit: many writes, one sync.
 *
 * <pre>
 *   callers ── append ──► waiting ──► wal-sync ──► settled ──► wal-apply ──► committed / failed
 *                        (bounded)   place, encode            (in the same order)
 *                                    write once, sync once
 * </pre>
 *
 * <p><b>The idea.</b> While one group is being synced the next one gathers in the queue; so the
 * slower the disk, the larger the groups, and a lone writer waits for nothing but its own sync. The
 * first arrival wakes {@code wal-sync}; nothing polls.
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
 * <p>The stages are {@link LogQueue}, {@link LogSyncer} and {@link LogApplier}; this class puts
 * them together, starts and closes them.
 *
 * <p>Threads: {@code wal-sync}, {@code wal-apply} and {@code wal-files} (makes, completes and
 * deletes files), each with the prefix of the options; owned by this class. Without {@link #start}
 * there are none, and a test calls {@link #syncStep} and {@link #applyStep}.
 */
public final class GroupCommitLog implements WriteAheadLog {
  // Constant.
  private final Options options;
  private final @Nullable ExecutorService helper;
  private final @Nullable Thread syncThread;
  private final @Nullable Thread applyThread;

  // Own synchronization.
  private final LogMetrics metrics;
  private final LogState state;
  private final LogQueue queue;
  private final LiveLogs live;
  private final LogSyncer syncer;
  private final LogApplier applier;
  private final Doorbell syncBell = new Doorbell();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  // Written by the thread that closes.
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
    this.helper = ownedHelper;
    this.metrics = new LogMetrics(clock);
    this.state = new LogState(options.directory(), onBroken, syncBell);
    this.queue = new LogQueue(options.queueBytes());
    this.applier = new LogApplier(queue, state, metrics, aroundGroup);
    LogFileSequence files = new LogFileSequence(store, options, metrics, salts, helper);
    this.live = files.live();
    this.syncer =
        new LogSyncer(queue, files, state, applier, metrics, syncBell, options.fileBytes());
    boolean threads = ownedHelper != null;
    this.syncThread = threads ? daemon(syncer::run, options.threadPrefix() + "wal-sync") : null;
    this.applyThread = threads ? daemon(applier::run, options.threadPrefix() + "wal-apply") : null;
    files.open();
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public boolean append(LogEntry entry) {
    SteleException refusal = state.refusal();
    if (refusal != null) {
      applier.refuse(entry, refusal);
      return true;
    }
    if (!queue.add(entry)) {
      metrics.full.increment();
      return false;
    }
    metrics.appends.increment();
    syncBell.ring();
    if (syncer.hasEnded() && queue.remove(entry)) {
      applier.refuse(entry, LogState.closedException());
    }
    return true;
  }

  @Override
  public long waitingBytes() {
    return queue.bytes();
  }

  @Override
  public Optional<Exception> broken() {
    return Optional.ofNullable(state.broken());
  }

  @Override
  public List<LogFile> files() {
    return live.files();
  }

  @Override
  public LogMetrics metrics() {
    return metrics;
  }

  @Override
  public void flushed(String tabletId, long sequence) {
    if (live.flushed(tabletId, sequence)) {
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
    return syncer.requestRoll();
  }

  /** What {@code wal-sync} does, once; for a log without threads. */
  boolean syncStep() {
    return syncer.step();
  }

  /** What {@code wal-apply} does, once; for a log without threads. */
  boolean applyStep() {
    return applier.step();
  }

  // ---- Closing

  @Override
  public void close() throws IOException {
    if (isOwnThread()) {
      throw new IllegalStateException("a log cannot be closed by one of its own threads");
    }
    if (state.close()) {
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
      syncer.run();
    } else if (!endsInTime(syncThread)) {
      giveUp();
    }
    Exception unfinished = syncer.closeFailure();
    if (unfinished != null) {
      closeFailure =
          new IOException(options.directory() + ": closing the log has failed", unfinished);
    }
    applier.end();
    if (applyThread == null) {
      applier.run();
    } else if (!endsInTime(applyThread)) {
      closeFailure = new IOException(applyThread.getName() + " did not end in time");
    }
    if (helper != null) {
      helper.shutdown();
      awaitHelper(helper);
    }
  }

  private void giveUp() {
    String what =
        options.directory()
            + ": the disk did not answer within "
            + options.closeTimeout().toMillis()
            + " ms";
    IOException reason = new IOException(what);
    closeFailure = reason;
    state.breakLog(reason);
    syncer.giveUp(new SteleException(ErrorCode.UNKNOWN_OUTCOME, what, reason));
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
}
