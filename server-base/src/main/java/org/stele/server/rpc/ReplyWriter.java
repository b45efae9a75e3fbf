package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.stele.core.data.ByteWriter;
import org.stele.core.net.Link;
import org.stele.core.time.Clock;

/**
 * Writes the replies of one connection, from any thread. The thread that made a reply writes it; if
 * another one is writing just then, that one takes it along. What the socket does not take waits
 * for the selector thread, which goes on when the socket has room.
 *
 * <p>Always: at most one thread has the turn to write ({@link #writing}), it holds no lock while it
 * writes, and whole frames are written one after the other. While the socket is full the turn
 * belongs to the selector thread.
 */
final class ReplyWriter {
  /** A buffer that has grown beyond this is not kept when it is empty. */
  private static final int KEPT_BYTES = 64 << 10;

  private static final int FIRST_BYTES = 4 << 10;

  /** Replaced at most once, before the first reply. */
  private volatile Link link;

  private final Connection connection;
  private final ByteBudget budget;
  private final RpcCounters counters;
  private final Clock clock;

  @GuardedBy("this")
  private boolean writing;

  @GuardedBy("this")
  private boolean closed;

  /** Frames that wait for the turn of whoever writes. */
  @GuardedBy("this")
  private ByteWriter queued = new ByteWriter(0);

  /** Owned by who has the turn to write: bytes begun, of which {@link #sentTo} are written. */
  private ByteWriter sending = new ByteWriter(0);

  private int sentTo;

  /** As {@link #sending}: bytes that the link took and the socket did not. */
  private int heldBackBytes;

  /** Bytes in both buffers and in the link; changed under the lock. */
  private volatile int unsentBytes;

  /** Whether the selector thread has the turn, since the socket is full. */
  private volatile boolean blocked;

  /** When the socket took something last, or the waiting began. */
  private volatile long progressNanos;

  ReplyWriter(
      Link link, Connection connection, ByteBudget budget, RpcCounters counters, Clock clock) {
    this.link = link;
    this.connection = connection;
    this.budget = budget;
    this.counters = counters;
    this.clock = clock;
  }

  /** From now on writes to another link. */
  void setLink(Link newLink) {
    link = newLink;
  }

  int unsentBytes() {
    return unsentBytes;
  }

  boolean isBlocked() {
    return blocked;
  }

  long progressNanos() {
    return progressNanos;
  }

  /**
   * What its waiting has cost since the socket took something last: the square of its bytes of
   * memory times nanoseconds. With the square, who is slow with little costs less than who has only
   * just begun to take nothing of a lot.
   */
  double waitingCost() {
    double bytes = unsentBytes;
    return bytes * bytes * (1 + clock.nanos() - progressNanos);
  }

  /** Whether every reply that was sent is with the operating system. */
  synchronized boolean isDone() {
    return !writing && queued.length() == 0;
  }

  /** Writes whole frames, or leaves them to the thread that is writing. Never blocks. */
  void send(byte[] array, int offset, int length) {
    boolean mine = false;
    synchronized (this) {
      if (closed) {
        return;
      }
      if (writing) {
        queueLocked(array, offset, length);
      } else {
        writing = true;
        mine = true;
      }
    }
    if (!mine) {
      connection.endpoint().limitUnsent(connection);
      return;
    }
    try {
      int written = write(array, offset, length);
      if (written < length || link.heldBackBytes() > 0) {
        waitForRoom(array, offset + written, length - written);
      } else {
        writeQueued();
      }
    } catch (IOException e) { // the client is gone
      connection.breakOff();
    }
  }

  /** Leaves whole frames here until {@link #flush}. */
  synchronized void queue(byte[] array, int offset, int length) {
    if (!closed) {
      queueLocked(array, offset, length);
    }
  }

  @GuardedBy("this")
  private void queueLocked(byte[] array, int offset, int length) {
    if (queued.array().length == 0) {
      queued = new ByteWriter(Math.max(FIRST_BYTES, length));
    }
    queued.writeBytes(array, offset, length);
    addUnsentLocked(length);
  }

  /** Writes what was queued, unless another thread is about to. */
  void flush() {
    synchronized (this) {
      if (closed || writing) {
        return;
      }
      writing = true;
    }
    try {
      writeQueued();
    } catch (IOException e) { // the client is gone
      connection.breakOff();
    }
  }

  /** The socket has room again; on the selector thread, while {@link #isBlocked}. */
  void resume() throws IOException {
    blocked = false;
    if (writeSending()) {
      writeQueued();
    }
  }

  /**
   * Has the turn: writes until nothing is queued and gives the turn up, or until the socket is
   * full.
   */
  private void writeQueued() throws IOException {
    do {
      synchronized (this) {
        if (queued.length() == 0 || closed) {
          writing = false;
          break;
        }
        ByteWriter next = queued;
        queued = sending;
        sending = next;
        sentTo = 0;
      }
    } while (writeSending());
    if (!blocked) {
      connection.repliesWritten();
    }
  }

  /** Has the turn. False if the socket is full. */
  private boolean writeSending() throws IOException {
    int written = write(sending.array(), sentTo, sending.length() - sentTo);
    sentTo += written;
    link.flush();
    countUnsent(-written);
    if (sentTo < sending.length() || heldBackBytes > 0) {
      becomeBlocked();
      return false;
    }
    sentTo = 0;
    if (sending.array().length > KEPT_BYTES) {
      sending = new ByteWriter(0);
    } else {
      sending.clear();
    }
    return true;
  }

  private void waitForRoom(byte[] array, int offset, int length) {
    if (sending.array().length == 0) {
      sending = new ByteWriter(length);
    }
    sending.clear();
    sending.writeBytes(array, offset, length);
    sentTo = 0;
    countUnsent(length);
    becomeBlocked();
  }

  /** Has the turn: so many bytes more, and what the link holds back. */
  private void countUnsent(int bytes) {
    int before = heldBackBytes;
    heldBackBytes = link.heldBackBytes();
    synchronized (this) {
      addUnsentLocked(bytes + heldBackBytes - before);
    }
  }

  /** Has the turn, and leaves it to the selector thread; unless the connection is closed. */
  private void becomeBlocked() {
    progressNanos = clock.nanos();
    synchronized (this) {
      blocked = !closed;
    }
    connection.attend();
  }

  /** Returns how much the socket took. */
  private int write(byte[] array, int offset, int length) throws IOException {
    ByteBuffer buffer = ReplyScratch.ofThread().writeBuffer();
    int done = 0;
    while (done < length) {
      int count = Math.min(length - done, buffer.capacity());
      buffer.clear();
      buffer.put(array, offset + done, count).flip();
      int written = link.write(buffer);
      done += written;
      if (written < count) {
        break;
      }
    }
    counters.bytesWritten.add(done);
    return done;
  }

  /** Drops everything; later replies go nowhere. */
  synchronized void close() {
    closed = true;
    blocked = false;
    budget.remove(unsentBytes);
    unsentBytes = 0;
  }

  @GuardedBy("this")
  @SuppressWarnings("NonAtomicVolatileUpdate") // only changed under the lock
  private void addUnsentLocked(int bytes) {
    if (!closed) {
      unsentBytes += bytes;
      budget.add(bytes);
    }
  }
}
