package org.stele.tserver.coordinator;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.core.coordination.Leadership;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;
import org.stele.server.metadata.MetadataStore;

/**
 * Stands for the coordinator's role and does its work on the thread {@code coordinator}, never on a
 * thread that answers calls: its own calls may come to this very server. Operations come through a
 * bounded queue; what changes in the cluster wakes the thread by {@link #nudge()}.
 *
 * <p>Thread-safe. {@link #step()} is one turn of the thread, for tests.
 */
public final class Coordinator implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(Coordinator.class);

  /** While servers are at work: first short, since most of their work is. */
  private static final long WAIT_LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private static final long WAIT_MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long FAILED_LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long FAILED_MOST_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** A watch may have been missed. */
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

  /** Of operations that were asked for and have no answer yet, begun or not. */
  private static final int MAX_ASKED = 1000;

  // Constant.
  private final Reconciler reconciler;
  private final LeftoverSweep sweep;
  private final long leftoversNanos;
  private final Clock clock;
  private final Function<Leadership.Listener, Leadership> standing;
  private final Thread thread;

  @GuardedBy("this")
  private final List<TableOperation> asked = new ArrayList<>();

  @GuardedBy("this")
  private int underWay;

  @GuardedBy("this")
  private boolean leading;

  @GuardedBy("this")
  private boolean nudged;

  @GuardedBy("this")
  private boolean closed;

  @GuardedBy("this")
  private @Nullable Leadership leadership;

  // Of the coordinator's thread.
  private boolean settled;
  private long pauseNanos;
  private long leftoversDueNanos;

  /** The states of tablets as of the last pass. */
  private volatile Map<String, TabletStatus> statuses = Map.of();

  private volatile boolean wasSettled;

  private volatile @Nullable String trouble;

  /**
   * @param ids gives ids of tables and tablets: random, never used before
   * @param leftoversEvery how often to look for what dead servers left
   * @param standing makes this server stand for the role
   */
  public Coordinator(
      MetadataStore store,
      LiveServers liveServers,
      TabletCommands commands,
      LogFence fence,
      Leftovers leftovers,
      Duration leftoversEvery,
      Supplier<String> ids,
      Clock clock,
      Function<Leadership.Listener, Leadership> standing) {
    this.reconciler = new Reconciler(store, liveServers, commands, fence, leftovers, ids, clock);
    this.sweep = new LeftoverSweep(store, liveServers, fence, leftovers, clock);
    this.leftoversNanos = leftoversEvery.toNanos();
    this.leftoversDueNanos = clock.nanos();
    this.clock = clock;
    this.standing = standing;
    this.thread = new Thread(this::run, "coordinator");
    thread.setDaemon(true);
  }

  /** Starts the thread and stands for the role. */
  public Coordinator start() {
    thread.start();
    Leadership made =
        standing.apply(
            new Leadership.Listener() {
              @Override
              public void leading() {
                setLeading(true);
              }

              @Override
              public void notLeading() {
                setLeading(false);
              }
            });
    synchronized (this) {
      leadership = made;
    }
    return this;
  }

  synchronized void setLeading(boolean now) {
    leading = now;
    nudged = true;
    notifyAll();
  }

  public synchronized boolean isLeading() {
    return leading;
  }

  /** Something may have changed: look at once. */
  public synchronized void nudge() {
    nudged = true;
    notifyAll();
  }

  /**
   * Makes a table; the result, its id, comes when all its tablets are served.
   *
   * @param splits ascending
   * @param settings checked
   */
  public CompletableFuture<String> createTable(
      String name, List<Bytes> splits, Map<String, String> settings, long deadlineNanos) {
    return ask(
        new TableOperation.Create(
            name, splits, settings, deadlineNanos, new CompletableFuture<>()));
  }

  /** Deletes a table; the result comes when nothing is left but its files. */
  public CompletableFuture<String> deleteTable(String name, long deadlineNanos) {
    return ask(new TableOperation.Delete(name, deadlineNanos, new CompletableFuture<>()));
  }

  private synchronized CompletableFuture<String> ask(TableOperation operation) {
    if (closed || !leading) {
      operation
          .result()
          .completeExceptionally(
              new SteleException(
                  ErrorCode.UNAVAILABLE, "this server is not the coordinator, or not yet"));
    } else if (underWay >= MAX_ASKED) {
      operation
          .result()
          .completeExceptionally(
              SteleException.busy(MAX_ASKED + " table operations wait already", 1000));
    } else {
      underWay++;
      var unused = operation.result().whenComplete((id, failure) -> ended());
      asked.add(operation);
      nudge();
    }
    return operation.result();
  }

  private synchronized void ended() {
    underWay--;
  }

  /** Why a tablet is not served, or how it is; null if that is not known here. */
  public @Nullable TabletStatus status(String tabletId) {
    return statuses.get(tabletId);
  }

  /**
   * Whether every tablet was open or known to be impossible to open in some turn; where another
   * server had the role, whether the metadata was served. From then on it is.
   */
  public boolean wasSettled() {
    return wasSettled;
  }

  /** Why the last turn failed; null if it did not. */
  public @Nullable String trouble() {
    return trouble;
  }

  private void run() {
    try {
      while (awaitTurn()) {
        step();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      reconciler.resign();
    }
  }

  private synchronized boolean awaitTurn() throws InterruptedException {
    if (!nudged && !closed) {
      TimeUnit.NANOSECONDS.timedWait(this, Math.max(1, pauseNanos));
    }
    nudged = false;
    return !closed;
  }

  /** One turn: takes what was asked for, makes one pass. */
  void step() {
    boolean leads;
    synchronized (this) {
      asked.forEach(reconciler::ask);
      asked.clear();
      leads = leading;
    }
    try {
      if (leads) {
        settled = reconciler.pass() == PassResult.SETTLED;
        statuses = Map.copyOf(reconciler.statuses());
      } else {
        reconciler.resign();
        settled = reconciler.isRootServed();
      }
      if (settled) {
        wasSettled = true;
      }
      trouble = null;
      pauseNanos = settled ? IDLE_NANOS : longer(WAIT_LEAST_NANOS, WAIT_MOST_NANOS);
      if (leads && settled) {
        removeLeftovers();
      }
    } catch (IOException | RuntimeException e) {
      settled = false;
      trouble = e.getMessage() == null ? e.toString() : e.getMessage();
      reconciler.forget();
      pauseNanos = longer(FAILED_LEAST_NANOS, FAILED_MOST_NANOS);
      LOG.warn(
          "the coordinator begins anew in {} ms", TimeUnit.NANOSECONDS.toMillis(pauseNanos), e);
    }
  }

  private void removeLeftovers() throws IOException {
    if (clock.nanos() - leftoversDueNanos >= 0) {
      leftoversDueNanos = clock.nanos() + leftoversNanos;
      sweep.run();
    }
  }

  /** Twice as long as before, within bounds; the shortest if the one before was the idle pause. */
  private long longer(long least, long most) {
    return pauseNanos >= IDLE_NANOS ? least : Math.max(least, Math.min(2 * pauseNanos, most));
  }

  /** Gives the role up and ends the thread; what was asked for fails. Idempotent. */
  @Override
  public void close() {
    Leadership held;
    synchronized (this) {
      closed = true;
      held = leadership;
      leadership = null;
      notifyAll();
    }
    if (held != null) {
      held.close();
    }
    try {
      thread.join(CLOSE_LIMIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (this) {
      asked.forEach(
          operation ->
              operation
                  .result()
                  .completeExceptionally(
                      new SteleException(ErrorCode.UNAVAILABLE, "the server is stopping")));
      asked.clear();
    }
  }
}
