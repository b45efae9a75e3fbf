package org.stele.client.rpc;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.core.time.Clock;

/**
 * The connections to one server. A thread keeps to one of them, so that a lone caller always finds
 * the same. A place is filled by the first who needs it; who waits meanwhile shares its success or
 * failure. Asynchronous calls have it filled by one thread for all of them, and wait without one.
 * Thread-safe.
 */
final class ServerConnections {
  private final ServerAddress address;
  private final Connector connector;
  private final Clock clock;
  private final long connectNanos;
  private final Place[] places;

  /** Replaced by others, and maybe not closed yet. */
  private final Set<Connection> replaced = ConcurrentHashMap.newKeySet();

  private volatile boolean closed;

  /** Unused, and given up for good. Written with the locks of all places. */
  private volatile boolean dropped;

  /** When a connection was wanted that was not there. */
  private volatile long wantedNanos;

  /**
   * @param connectTimeout of one try, for calls that wait without a thread
   */
  ServerConnections(
      ServerAddress address, Connector connector, Clock clock, int count, Duration connectTimeout) {
    this.connectNanos = connectTimeout.toNanos();
    this.address = address;
    this.connector = connector;
    this.clock = clock;
    this.wantedNanos = clock.nanos();
    this.places = new Place[count];
    for (int i = 0; i < count; i++) {
      places[i] = new Place();
    }
  }

  /** The place that the current thread keeps to. */
  int placeOfThisThread() {
    return (int) (Thread.currentThread().getId() % places.length);
  }

  /** An open connection, if there is one at the place. */
  @Nullable Connection existing(int place) {
    Connection connection = places[place].connection;
    if (connection == null || !connection.isOpen()) {
      return null;
    }
    connection.probeIfIdle();
    return connection.isOpen() ? connection : null;
  }

  /**
   * An open connection, made if need be; null: this was dropped, another is to be made.
   *
   * @throws AttemptException if none could be made in time
   */
  @Nullable Connection get(int place, long deadlineNanos) throws InterruptedException {
    Connection connection = existing(place);
    return connection != null ? connection : connect(places[place], deadlineNanos);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // attempts is written under the lock only
  private @Nullable Connection connect(Place place, long deadlineNanos)
      throws InterruptedException {
    wantedNanos = clock.nanos();
    int seen = place.attempts;
    if (!place.connecting.tryLock(
        Math.max(0, deadlineNanos - clock.nanos()), TimeUnit.NANOSECONDS)) {
      throw AttemptException.notSent(
          address.toString(), "no connection within the time of the attempt", null);
    }
    try {
      Connection connection = place.connection;
      if (connection != null && connection.isOpen()) {
        return connection;
      }
      if (closed) {
        throw AttemptException.notSent(address.toString(), "the client is closed", null);
      }
      if (dropped) {
        return null;
      }
      replaced.removeIf(Connection::isClosed);
      if (connection != null && !connection.isClosed()) {
        replaced.add(connection);
      }
      AttemptException failure = place.failure;
      if (place.attempts != seen && failure != null) {
        throw failure;
      }
      place.failure = null;
      try {
        connection = connector.connect(address, deadlineNanos);
        place.connection = connection;
      } catch (AttemptException e) {
        if (deadlineNanos - clock.nanos() > 0) {
          place.failure = e; // else only this caller's time was over, which says nothing to others
        }
        throw e;
      } finally {
        place.attempts++;
      }
      if (closed) {
        connection.close(closedHere());
      }
      return connection;
    } finally {
      place.connecting.unlock();
    }
  }

  // ---- For calls that wait without a thread

  /**
   * Sends a call when there is a connection, which one thread makes for all calls that come
   * meanwhile; ends it if there is none in its time.
   *
   * @param threads to make it on
   * @param again what to do if this was dropped, or the connection takes no calls any more
   * @throws AttemptException if too many wait already
   */
  void sendWhenConnected(int place, AsyncCall<?, ?> call, Executor threads, Runnable again) {
    CompletableFuture<@Nullable Connection> connected =
        connecting(places[place], threads)
            .copy()
            .orTimeout(Math.max(0, call.deadlineNanos() - clock.nanos()), TimeUnit.NANOSECONDS);
    CompletableFuture<?> unused = // the call tells its own end
        connected.whenComplete(
            (connection, failure) -> {
              if (failure != null) {
                call.notSent(cause(failure));
              } else if (connection == null || !call.send(connection)) {
                again.run();
              }
            });
  }

  private Throwable cause(Throwable failure) {
    if (failure instanceof TimeoutException) {
      return AttemptException.notSent(
          address.toString(), "no connection within the time of the attempt", null);
    }
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  /** The try that is under way, else a new one. */
  private CompletableFuture<@Nullable Connection> connecting(Place place, Executor threads) {
    wantedNanos = clock.nanos();
    CompletableFuture<@Nullable Connection> begun = new CompletableFuture<>();
    synchronized (place) {
      CompletableFuture<@Nullable Connection> underWay = place.underWay;
      if (underWay != null && place.waiting == CallTable.MAX_CALLS) {
        throw AttemptException.busyHere(
            address.toString(), place.waiting + " calls wait for a connection to this server");
      }
      if (underWay != null) {
        place.waiting++;
        return underWay;
      }
      place.underWay = begun;
      place.waiting = 1;
    }
    try {
      threads.execute(() -> connect(place, begun));
    } catch (RejectedExecutionException e) {
      end(
          place,
          begun,
          null,
          AttemptException.notSent(address.toString(), "the client is closed", e));
    } catch (RuntimeException | Error e) {
      end(place, begun, null, e);
    }
    return begun;
  }

  private void connect(Place place, CompletableFuture<@Nullable Connection> begun) {
    try {
      // the place may be taken by a try of another caller at first
      end(place, begun, connect(place, clock.nanos() + 2 * connectNanos), null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      end(
          place,
          begun,
          null,
          AttemptException.notSent(address.toString(), "the client is closed", e));
    } catch (RuntimeException | Error e) {
      end(place, begun, null, e);
    }
  }

  private static void end(
      Place place,
      CompletableFuture<@Nullable Connection> begun,
      @Nullable Connection made,
      @Nullable Throwable failure) {
    synchronized (place) {
      place.underWay = null;
    }
    if (failure == null) {
      begun.complete(made);
    } else {
      begun.completeExceptionally(failure);
    }
  }

  // ---- The end

  private AttemptException closedHere() {
    return AttemptException.lost(address.toString(), "the client was closed", null);
  }

  /**
   * Gives up what was not used for so long. A call that begins meanwhile keeps it, or finds it
   * dropped before anything was sent.
   *
   * @return whether it was dropped: its connections are closed, and it makes none any more
   */
  boolean dropIfUnusedFor(long nanos) {
    int locked = 0;
    try {
      while (locked < places.length) {
        if (!places[locked].connecting.tryLock()) {
          return false;
        }
        locked++;
      }
      if (!dropped && isUnusedForLocked(nanos) && closeIfNoCallLocked()) {
        dropped = true;
      }
      return dropped;
    } finally {
      while (locked > 0) {
        places[--locked].connecting.unlock();
      }
    }
  }

  /** Whether it makes no connections any more, since it was unused. */
  boolean isDropped() {
    return dropped;
  }

  private boolean isUnusedForLocked(long nanos) {
    if (clock.nanos() - wantedNanos < nanos) {
      return false;
    }
    for (Place place : places) {
      Connection connection = place.connection;
      if (connection != null && !connection.isUnusedFor(nanos)) {
        return false;
      }
    }
    return replaced.stream().allMatch(Connection::isClosed);
  }

  /** Closes as many as have no call; those closed are made anew if a call was there after all. */
  private boolean closeIfNoCallLocked() {
    for (Place place : places) {
      Connection connection = place.connection;
      if (connection != null && !connection.closeIfNoCall()) {
        return false;
      }
    }
    return true;
  }

  void close() {
    closed = true;
    for (Place place : places) {
      Connection connection = place.connection;
      if (connection != null) {
        connection.close(closedHere());
      }
    }
    replaced.forEach(connection -> connection.close(closedHere())); // after those of the places
  }

  private static final class Place {
    private final ReentrantLock connecting = new ReentrantLock();

    /** Written under the lock. */
    private volatile @Nullable Connection connection;

    /** Written under the lock: how often a connection was tried, and why the last failed. */
    private volatile int attempts;

    private volatile @Nullable AttemptException failure;

    /** Guarded by this place: the try for calls that wait without a thread, and their number. */
    private @Nullable CompletableFuture<@Nullable Connection> underWay;

    private int waiting;
  }
}
