package org.stele.server.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.stele.core.time.Clock;

/** A fixed number of threads, {@code rpc-select-N}, that are dealt the connections in turn. */
final class SelectorThreads implements ServingThreads {
  private final List<SelectorLoop> loops = new ArrayList<>();

  @GuardedBy("this")
  private final List<Thread> threads = new ArrayList<>();

  /** Used by the accepting thread. */
  private int next;

  /**
   * @param onTick called about once a second or more often, with the clock's nanoseconds
   */
  SelectorThreads(
      int count, Endpoint endpoint, Supplier<CallDispatcher> dispatchers, LongConsumer onTick)
      throws IOException {
    for (int i = 0; i < count; i++) {
      loops.add(
          SelectorLoop.shared(endpoint, dispatchers.get(), i == 0 ? onTick : SelectorLoop.NO_TICK));
    }
  }

  @Override
  public synchronized void start() {
    for (int i = 0; i < loops.size(); i++) {
      Thread thread = new Thread(loops.get(i), "rpc-select-" + i);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  @Override
  public void adopt(SocketChannel channel) {
    loops.get(next).adopt(channel);
    next = (next + 1) % loops.size();
  }

  @Override
  public void finish() {
    loops.forEach(SelectorLoop::finish);
  }

  @Override
  public void end() {
    loops.forEach(SelectorLoop::end);
    if (started().isEmpty()) {
      loops.forEach(SelectorLoop::run);
    }
  }

  private synchronized List<Thread> started() {
    return List.copyOf(threads);
  }

  @Override
  public void join(long untilNanos) throws InterruptedException {
    for (Thread thread : started()) {
      long left = TimeUnit.NANOSECONDS.toMillis(untilNanos - Clock.system().nanos());
      thread.join(Math.max(1, left));
    }
  }
}
