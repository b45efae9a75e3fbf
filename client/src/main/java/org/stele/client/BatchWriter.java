package org.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * Collects mutations of one table and sends them to their servers together. Of two mutations of one
 * row the one added first is applied first.
 *
 * <p>Thread-safe. {@link #flush} and {@link #close} are barriers: what was added before and is not
 * reported by a {@link MutationsFailedException} is as durable as asked, and visible. Each failed
 * or unknown mutation is reported once, by whichever of add, flush and close comes first, also
 * after the client was closed. A mutation whose answer was lost is sent again until the deadline,
 * then reported with UNKNOWN_OUTCOME; sent again it may be applied twice, with the same effect.
 *
 * <p><b>Inside.</b> Mutations are sent in rounds ({@link WriteRound}), one at a time: a round takes
 * all that waits, and ends when each of its mutations is done or failed; meanwhile new ones gather.
 * A round is run by the thread that flushes, else by the thread {@code stele-client-writer}, which
 * starts one when half the buffer waits, when a mutation waited for the latency, or when add has to
 * wait for room.
 */
public final class BatchWriter implements AutoCloseable {
  /** A round begins when so much waits, however large the buffer. */
  private static final long ROUND_BYTES = 4 << 20;

  /** A round under way ends by its own deadline, which is at most that of who waits for it. */
  private static final long ROUND_GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** After so many turns without work the thread sleeps until it is called. */
  private static final int IDLE_TURNS = 4;

  private final ClientCore core;
  private final String table;
  private final BatchWriterOptions options;
  private final long deadlineNanos;
  private final long roundBytes;

  private final ReentrantLock lock = new ReentrantLock();

  /** A round ended, or the writer did. */
  private final Condition roundEnded = lock.newCondition();

  /** The sending thread has something to do. */
  private final Condition workThere = lock.newCondition();

  @GuardedBy("lock")
  private List<Mutation> waiting = new ArrayList<>();

  @GuardedBy("lock")
  private long waitingBytes;

  /** Of the round under way. */
  @GuardedBy("lock")
  private long sendingBytes;

  @GuardedBy("lock")
  private boolean sending;

  /** The mutations of the round under way, until they are accounted for. */
  @GuardedBy("lock")
  private List<Mutation> underWay = List.of();

  /** Mutations added, and those of ended rounds, since the writer was made. */
  @GuardedBy("lock")
  private long added;

  @GuardedBy("lock")
  private long ended;

  @GuardedBy("lock")
  private List<FailedMutation> failures = new ArrayList<>();

  @GuardedBy("lock")
  private boolean closed;

  /** The client was closed: nothing is sent any more. */
  @GuardedBy("lock")
  private boolean aborted;

  @GuardedBy("lock")
  private boolean roomWanted;

  @GuardedBy("lock")
  private long firstWaitingNanos;

  @GuardedBy("lock")
  private @Nullable Thread sender;

  @GuardedBy("lock")
  private boolean senderSleeps;

  BatchWriter(ClientCore core, String table, BatchWriterOptions options) {
    this.core = core;
    this.table = table;
    this.options = options;
    this.deadlineNanos =
        (options.deadline() == null ? core.options().deadline() : options.deadline()).toNanos();
    this.roundBytes = Math.max(1, Math.min(ROUND_BYTES, options.bufferBytes() / 2));
    core.opened(this);
  }

  // ---- Adding

  /**
   * Adds mutations, all or (with an exception) none; waits while the buffer is full. They must not
   * be changed any more. Mutations that together are larger than the buffer are taken when it is
   * empty.
   *
   * @throws MutationsFailedException if earlier mutations failed
   * @throws SteleException DEADLINE_EXCEEDED if the buffer stayed full; UNAVAILABLE if the client
   *     is closed
   * @throws IllegalArgumentException if one has no updates
   * @throws IllegalStateException if the writer is closed
   */
  public void add(Mutation... mutations) {
    long bytes = 0;
    for (Mutation mutation : mutations) {
      SingleWrites.requireUpdates(mutation);
      bytes += mutation.bytes();
    }
    long end = core.clock().nanos() + deadlineNanos;
    lock.lock();
    try {
      awaitRoomLocked(bytes, end);
      startSenderLocked();
      if (waiting.isEmpty()) {
        firstWaitingNanos = core.clock().nanos();
      }
      waiting.addAll(List.of(mutations));
      waitingBytes += bytes;
      added += mutations.length;
      if (senderSleeps || waitingBytes >= roundBytes) {
        workThere.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void awaitRoomLocked(long bytes, long endNanos) {
    while (true) {
      requireOpenLocked();
      reportFailuresLocked();
      if (aborted) {
        throw core.closedException();
      }
      long used = waitingBytes + sendingBytes;
      if (used == 0 || used + bytes <= options.bufferBytes()) {
        return;
      }
      roomWanted = true;
      workThere.signal();
      if (!awaitRoundLocked(endNanos)) {
        throw new SteleException(
            ErrorCode.DEADLINE_EXCEEDED,
            "the buffer of "
                + options.bufferBytes()
                + " bytes for table "
                + table
                + " had no room for "
                + bytes
                + " bytes within "
                + TimeUnit.NANOSECONDS.toMillis(deadlineNanos)
                + " ms");
      }
    }
  }

  @GuardedBy("lock")
  private void requireOpenLocked() {
    if (closed) {
      throw new IllegalStateException("the writer of table " + table + " is closed");
    }
  }

  @GuardedBy("lock")
  private void reportFailuresLocked() {
    if (!failures.isEmpty()) {
      List<FailedMutation> reported = failures;
      failures = new ArrayList<>();
      throw new MutationsFailedException(table, reported);
    }
  }

  /** False: the time is over. */
  @SuppressWarnings("WaitNotInLoop") // the callers look again at what they wait for
  @GuardedBy("lock")
  private boolean awaitRoundLocked(long endNanos) {
    long left = endNanos - core.clock().nanos();
    if (left <= 0) {
      return false;
    }
    try {
      roundEnded.awaitNanos(left);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(true, "writing to table " + table, e);
    }
  }

  // ---- Flush and close

  /**
   * Sends everything added before and waits for the answers, up to the deadline. Interrupted, it
   * leaves what was not sent in the buffer and what is under way with an unknown outcome, which the
   * next flush or close reports.
   *
   * @throws MutationsFailedException if any mutation failed or has an unknown outcome
   * @throws IllegalStateException if the writer is closed
   */
  public void flush() {
    lock.lock();
    try {
      requireOpenLocked();
      flushLocked();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void flushLocked() {
    long end = core.clock().nanos() + deadlineNanos;
    long target = added;
    while (ended < target) {
      if (!sending) {
        runRoundLocked(end);
      } else if (!awaitRoundLocked(end + ROUND_GRACE_NANOS)) {
        throw new SteleException(
            ErrorCode.DEADLINE_EXCEEDED,
            "table "
                + table
                + ": "
                + (target - ended)
                + " mutations are not sent yet; they stay in the buffer");
      }
    }
    reportFailuresLocked();
  }

  /**
   * Flushes and ends the writer. What keeps it from flushing (an interrupt, the deadline) is
   * suppressed in the exception that names the mutations. Idempotent: a second call does nothing.
   *
   * @throws MutationsFailedException if any mutation is not done or has an unknown outcome; the
   *     writer is closed all the same
   */
  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true; // nothing is added any more
      try {
        flushLocked();
      } catch (RuntimeException | Error e) {
        failAllLocked(e);
        throw e;
      } finally {
        workThere.signalAll();
        roundEnded.signalAll();
        core.ended(this);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The last flush failed: reports everything that is not done. */
  @GuardedBy("lock")
  private void failAllLocked(Throwable why) {
    List<FailedMutation> reported =
        new ArrayList<>(
            why instanceof MutationsFailedException known ? known.failures() : List.of());
    failWaitingLocked(
        new SteleException(
            ErrorCode.UNAVAILABLE,
            "not sent before the writer was closed: " + why.getMessage(),
            why));
    failSendingLocked();
    reported.addAll(failures);
    failures = new ArrayList<>();
    if (!reported.isEmpty()) {
      MutationsFailedException all = new MutationsFailedException(table, reported);
      if (!(why instanceof MutationsFailedException)) {
        all.addSuppressed(why);
      }
      throw all;
    }
  }

  /** What waits is not sent any more. */
  @GuardedBy("lock")
  private void failWaitingLocked(SteleException why) {
    for (Mutation mutation : waiting) {
      failures.add(new FailedMutation(mutation, why));
    }
    ended += waiting.size();
    waiting = new ArrayList<>();
    waitingBytes = 0;
  }

  /** Nobody will wait for the round under way: what is in it is unknown. */
  @GuardedBy("lock")
  private void failSendingLocked() {
    SteleException unknown =
        new SteleException(
            ErrorCode.UNKNOWN_OUTCOME, "the writer was closed while the mutation was under way");
    for (Mutation mutation : underWay) {
      failures.add(new FailedMutation(mutation, unknown));
    }
    underWay = List.of();
  }

  /** The client is closed: everything fails now, and is reported by whoever asks next. */
  void abort() {
    lock.lock();
    try {
      aborted = true;
      failWaitingLocked(core.closedException());
      workThere.signalAll();
      roundEnded.signalAll();
      if (sender != null) {
        sender.interrupt();
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- Rounds

  /** Sends all that waits; the lock is given up meanwhile. */
  @GuardedBy("lock")
  private void runRoundLocked(long endNanos) {
    List<Mutation> mutations = waiting;
    WriteRound round = new WriteRound(core, table, options.durability(), mutations, endNanos);
    waiting = new ArrayList<>();
    sendingBytes = waitingBytes;
    waitingBytes = 0;
    roomWanted = false;
    sending = true;
    underWay = mutations;
    lock.unlock();
    try {
      round.run();
    } finally {
      lock.lock();
      sending = false;
      sendingBytes = 0;
      takeResultLocked(round, mutations.size());
      roundEnded.signalAll();
    }
  }

  @GuardedBy("lock")
  private void takeResultLocked(WriteRound round, int count) {
    if (underWay.isEmpty()) {
      ended += count; // accounted for by close
      return;
    }
    underWay = List.of();
    List<Mutation> unsent = round.unsent();
    if (!unsent.isEmpty()) {
      for (Mutation mutation : unsent) {
        waitingBytes += mutation.bytes();
      }
      List<Mutation> all = new ArrayList<>(unsent);
      all.addAll(waiting);
      waiting = all;
    }
    ended += count - unsent.size();
    failures.addAll(round.failures());
    if (aborted) {
      failWaitingLocked(core.closedException());
    }
  }

  // ---- The sending thread

  @GuardedBy("lock")
  private void startSenderLocked() {
    if (sender == null) {
      Thread thread = new Thread(this::runSender, "stele-client-writer");
      thread.setDaemon(true);
      thread.start(); // waits for the lock
      sender = thread;
    }
  }

  private void runSender() {
    lock.lock();
    try {
      sendUntilClosedLocked();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void sendUntilClosedLocked() {
    int idleTurns = 0;
    try {
      while (!closed && !aborted) {
        try {
          if (isRoundDueLocked()) {
            idleTurns = 0;
            runRoundLocked(core.clock().nanos() + deadlineNanos);
          } else {
            idleTurns = waiting.isEmpty() ? idleTurns + 1 : 0;
            awaitWorkLocked(idleTurns > IDLE_TURNS);
          }
        } catch (InterruptedException | OperationInterruptedException e) {
          Thread.interrupted(); // the client's end interrupts, and aborts; nothing else counts
        }
      }
    } finally {
      sender = null;
    }
  }

  @GuardedBy("lock")
  private boolean isRoundDueLocked() {
    return !sending
        && !waiting.isEmpty()
        && (roomWanted
            || waitingBytes >= roundBytes
            || core.clock().nanos() - firstWaitingNanos >= options.maxLatency().toNanos());
  }

  @SuppressWarnings("WaitNotInLoop") // the caller looks again for work
  @GuardedBy("lock")
  private void awaitWorkLocked(boolean sleep) throws InterruptedException {
    if (sleep) {
      senderSleeps = true;
      try {
        workThere.await();
      } finally {
        senderSleeps = false;
      }
    } else {
      long latency = options.maxLatency().toNanos();
      long waited = waiting.isEmpty() ? 0 : core.clock().nanos() - firstWaitingNanos;
      workThere.awaitNanos(sending ? latency : Math.max(1, latency - waited));
    }
  }
}
