package org.stele.core.coordination;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.stele.core.time.Clock;

/**
 * The lock node of this server: while it is there the server may serve. It writes the node again
 * and again, and has a lease from the moment the last acknowledged of these writes was
 * <em>sent</em>, for two thirds of the session timeout: ZooKeeper, which counts from the moment it
 * got the write, cannot give the server's place to another before that. A server acknowledges
 * nothing without the lease.
 *
 * <p>Thread-safe. The thread {@code server-lease} renews; {@link #renew()} does one step of it.
 */
public final class ServerNode implements AutoCloseable {
  private static final int RENEWALS_PER_TIMEOUT = 6;

  private final Coordination coordination;
  private final Clock clock;
  private final String session;
  private final long leaseNanos;
  private final ScheduledExecutorService renewer;
  private final AtomicLong acknowledgedSendNanos;
  private final AtomicBoolean lost = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile ServerRecord record;
  private volatile @Nullable Throwable failure;

  ServerNode(
      Coordination coordination,
      Clock clock,
      String session,
      ServerRecord record,
      Duration sessionTimeout,
      long createdSendNanos) {
    this.coordination = coordination;
    this.clock = clock;
    this.session = session;
    this.record = record;
    this.leaseNanos = sessionTimeout.toNanos() / 3 * 2;
    this.acknowledgedSendNanos = new AtomicLong(createdSendNanos);
    this.renewer =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread thread = new Thread(work, "server-lease");
              thread.setDaemon(true);
              return thread;
            });
  }

  void startRenewing() {
    long period = Math.max(1, leaseNanos * 3 / 2 / RENEWALS_PER_TIMEOUT);
    var unused =
        renewer.scheduleAtFixedRate(this::renewOrLose, period, period, TimeUnit.NANOSECONDS);
  }

  /**
   * After a renewal that throws there would be no other, while the session lives on and keeps the
   * server's place: the place is given up, and the server told why.
   */
  private void renewOrLose() {
    try {
      renew();
    } catch (Throwable e) {
      if (!closed.get()) {
        failure = e;
        lose();
      }
    }
  }

  /** The session that owns the node, in hex: the name of the node. */
  public String session() {
    return session;
  }

  public ServerRecord record() {
    return record;
  }

  /** The end of the lease on the clock's nanoseconds. */
  public long leaseEndNanos() {
    return acknowledgedSendNanos.get() + leaseNanos;
  }

  /** Whether this server may acknowledge at this moment. Cheap: for every call. */
  public boolean holdsLease() {
    return !lost.get() && leaseEndNanos() - clock.nanos() > 0;
  }

  /** Whether the session ended or the node is gone; then it never comes back. */
  public boolean isLost() {
    return lost.get();
  }

  /** Why this process itself cannot renew it any more; null if that is not why it is lost. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** Changes what the node says, with the next renewal, which is asked for at once. */
  public void update(ServerRecord newRecord) {
    record = newRecord;
    renew();
  }

  /** Sends one write of the node. Its answer, if there is one, extends the lease. Never blocks. */
  void renew() {
    if (lost.get() || closed.get()) {
      return;
    }
    long sent = clock.nanos();
    coordination.touch(
        session,
        record,
        answer -> {
          switch (answer) {
            case ACKNOWLEDGED -> acknowledgedSendNanos.accumulateAndGet(sent, ServerNode::later);
            case GONE -> lose();
            case UNKNOWN -> {
              // The lease just runs on towards its end; the next renewal comes soon.
            }
          }
        });
  }

  void lose() {
    lost.set(true);
  }

  private static long later(long a, long b) {
    return a - b > 0 ? a : b;
  }

  /** Gives the place up: removes the node, if it is still this session's. Idempotent. */
  @Override
  public void close() {
    if (!endRenewing()) {
      return;
    }
    if (!lost.getAndSet(true)) {
      coordination.removeServerNode(session);
    }
  }

  /** False if it was ended before. */
  boolean endRenewing() {
    renewer.shutdownNow();
    return closed.compareAndSet(false, true);
  }

  /** What became of a write of the node. */
  enum Renewal {
    ACKNOWLEDGED,
    GONE,
    UNKNOWN
  }
}
