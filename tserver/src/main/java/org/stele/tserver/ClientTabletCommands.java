package org.stele.tserver;

import java.io.Closeable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.stele.client.SteleClient;
import org.stele.client.SystemCalls;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;
import org.stele.tserver.coordinator.TableTasks.TabletWork;
import org.stele.tserver.coordinator.TabletCommands;
import org.stele.tserver.coordinator.TabletStatus;

/**
 * Commands to servers by the ordinary client path. Owns the threads tablet-close-N, which wait for
 * closings: one that takes long, or a server that does not answer, holds up no other work of the
 * coordinator. Thread-safe.
 */
final class ClientTabletCommands implements TabletCommands, TabletWork, Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientTabletCommands.class);

  /** Closing may flush. */
  private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(60);

  private static final Duration LEAST = Duration.ofMillis(1);
  private static final int CLOSING_THREADS = 4;
  private static final int CLOSING_QUEUE = 1000;

  private final SystemCalls calls;
  private final Clock clock;
  private final ThreadPoolExecutor closers;

  /** Closings that wait for a thread or for their answer. */
  private final Set<Closing> closing = ConcurrentHashMap.newKeySet();

  private record Closing(String address, String tabletId, boolean flush) {}

  ClientTabletCommands(SteleClient client, Clock clock) {
    this.calls = client.system();
    this.clock = clock;
    AtomicInteger number = new AtomicInteger();
    this.closers =
        new ThreadPoolExecutor(
            CLOSING_THREADS,
            CLOSING_THREADS,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(CLOSING_QUEUE),
            task -> {
              Thread thread = new Thread(task, "tablet-close-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
    closers.allowCoreThreadTimeOut(true);
  }

  @Override
  public void open(String address, List<String> tabletIds) {
    calls.openTablets(address, tabletIds);
  }

  @Override
  public void close(String address, String tabletId, boolean flush) {
    Closing wanted = new Closing(address, tabletId, flush);
    if (!closing.add(wanted)) {
      return;
    }
    try {
      closers.execute(() -> closeNow(wanted));
    } catch (RejectedExecutionException e) {
      closing.remove(wanted); // it is commanded again as long as the tablet is open
    }
  }

  private void closeNow(Closing wanted) {
    try {
      calls.closeTablet(wanted.address, wanted.tabletId, wanted.flush, CLOSE_DEADLINE);
    } catch (SteleException e) {
      LOG.warn("tablet {} could not be closed at {} yet", wanted.tabletId, wanted.address, e);
    } finally {
      closing.remove(wanted);
    }
  }

  @Override
  public Map<String, TabletStatus> states(String address) {
    Map<String, TabletStatus> states = new TreeMap<>();
    calls
        .tabletStates(address)
        .forEach((tabletId, text) -> states.put(tabletId, TabletStatus.parse(text)));
    return states;
  }

  @Override
  public void flush(String address, String tabletId, long deadlineNanos) {
    calls.flushTablet(address, tabletId, left(deadlineNanos));
  }

  @Override
  public void compact(String address, String tabletId, long deadlineNanos) {
    calls.compactTablet(address, tabletId, left(deadlineNanos));
  }

  /** Ends the threads; what waits is commanded again by the next coordinator. Idempotent. */
  @Override
  public void close() {
    closers.shutdownNow();
  }

  private Duration left(long deadlineNanos) {
    Duration left = Duration.ofNanos(deadlineNanos - clock.nanos());
    return left.compareTo(LEAST) < 0 ? LEAST : left;
  }
}
