package org.stele.client.rpc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.stele.client.retry.AttemptException;
import org.stele.core.time.Clock;

/**
 * The connections to one server. A thread keeps to one of them, so that a lone caller always finds
 * the same. A place is filled by the first who needs it; who waits meanwhile shares its success or
 * failure. Thread-safe.
 */
final class ServerConnections {
  private final ServerAddress address;
  private final Connector connector;
  private final Clock clock;
  private final Place[] places;
  private volatile boolean closed;

  ServerConnections(ServerAddress address, Connector connector, Clock clock, int count) {
    this.address = address;
    this.connector = connector;
    this.clock = clock;
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
   * An open connection, made if need be.
   *
   * @throws AttemptException if none could be made in time
   */
  Connection get(int place, long deadlineNanos) throws InterruptedException {
    Connection connection = existing(place);
    return connection != null ? connection : connect(places[place], deadlineNanos);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // attempts is written under the lock only
  private Connection connect(Place place, long deadlineNanos) throws InterruptedException {
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

  private AttemptException closedHere() {
    return AttemptException.lost(address.toString(), "the client was closed", null);
  }

  void close() {
    closed = true;
    for (Place place : places) {
      Connection connection = place.connection;
      if (connection != null) {
        connection.close(closedHere());
      }
    }
  }

  private static final class Place {
    private final ReentrantLock connecting = new ReentrantLock();

    /** Written under the lock. */
    private volatile @Nullable Connection connection;

    /** Written under the lock: how often a connection was tried, and why the last failed. */
    private volatile int attempts;

    private volatile @Nullable AttemptException failure;
  }
}
