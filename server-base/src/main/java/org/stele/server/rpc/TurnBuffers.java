package org.stele.server.rpc;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * What a thread reuses while it works for connections: the buffer it reads into, and what it needs
 * to decode calls and encode replies. Held from the moment the thread wakes until it sleeps.
 */
final class TurnBuffers {
  private final ReadBuffer read;
  private final ReplyScratch scratch;

  private TurnBuffers(ReadBuffer read, ReplyScratch scratch) {
    this.read = read;
    this.scratch = scratch;
  }

  ReadBuffer read() {
    return read;
  }

  ReplyScratch scratch() {
    return scratch;
  }

  /** Where a loop's thread has its buffers from. */
  interface Source {
    /** Called by the thread when it wakes. */
    TurnBuffers take();

    /** Called by the same thread before it sleeps. */
    void giveBack(TurnBuffers buffers);
  }

  /** For a thread that keeps its buffers for life. */
  static final class Own implements Source {
    private final RpcCounters counters;
    private @Nullable TurnBuffers mine;

    Own(RpcCounters counters) {
      this.counters = counters;
    }

    @Override
    public TurnBuffers take() {
      TurnBuffers buffers = mine;
      if (buffers == null) {
        buffers = new TurnBuffers(new ReadBuffer(counters), ReplyScratch.ofThread());
        mine = buffers;
      }
      return buffers;
    }

    @Override
    public void giveBack(TurnBuffers buffers) {
      // kept
    }
  }

  /**
   * For many threads of which few work at a time: a thread that finds no buffers waits until
   * another one sleeps. That bounds memory, and how many of them compete for processors. Nobody
   * waits for long, since who holds buffers never blocks. Thread-safe.
   */
  static final class Shared implements Source {
    private final RpcCounters counters;
    private final Semaphore permits;
    private final ConcurrentLinkedDeque<TurnBuffers> unused = new ConcurrentLinkedDeque<>();

    Shared(int count, RpcCounters counters) {
      this.counters = counters;
      permits = new Semaphore(count);
    }

    @Override
    public TurnBuffers take() {
      permits.acquireUninterruptibly();
      boolean taken = false;
      try {
        TurnBuffers buffers = unused.pollFirst();
        if (buffers == null) {
          buffers = new TurnBuffers(new ReadBuffer(counters), ReplyScratch.fresh());
        }
        buffers.scratch.lendToThread();
        taken = true;
        return buffers;
      } finally {
        if (!taken) {
          permits.release();
        }
      }
    }

    @Override
    public void giveBack(TurnBuffers buffers) {
      ReplyScratch.takeFromThread();
      unused.addFirst(buffers);
      permits.release();
    }
  }
}
