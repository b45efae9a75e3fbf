package org.stele.core.net;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The buffers through which encrypted bytes go, lent to one thread for one read or write, so that
 * an idle connection holds none. Thread-safe.
 */
final class TlsBuffers {
  /** The largest record that TLS allows, with its header: 2^14 bytes and what encryption adds. */
  static final int MAX_RECORD_BYTES = 5 + (16 << 10) + 2048;

  /** Several records go into one read or write of the socket. */
  private static final int SOCKET_BYTES = 64 << 10;

  private static final int KEPT = 32;

  private final ConcurrentLinkedDeque<Lease> unused = new ConcurrentLinkedDeque<>();
  private final AtomicInteger unusedCount = new AtomicInteger();

  Lease lend() {
    Lease lease = unused.pollFirst();
    if (lease == null) {
      return new Lease();
    }
    unusedCount.decrementAndGet();
    return lease;
  }

  /** Buffers for one read or write; closing gives them back. */
  final class Lease implements AutoCloseable {
    /**
     * For encrypted bytes, in an array, where the JDK encrypts fastest: what is kept of a record,
     * and one read.
     */
    final ByteBuffer encrypted = ByteBuffer.allocate(SOCKET_BYTES + MAX_RECORD_BYTES);

    /** For one record that must not go straight to whoever reads. */
    final ByteBuffer plain = ByteBuffer.allocate(MAX_RECORD_BYTES);

    /** What the socket reads and writes. */
    final ByteBuffer socket = ByteBuffer.allocateDirect(SOCKET_BYTES);

    private Lease() {}

    @Override
    public void close() {
      if (unusedCount.incrementAndGet() <= KEPT) {
        unused.addFirst(this);
      } else {
        unusedCount.decrementAndGet();
      }
    }
  }
}
