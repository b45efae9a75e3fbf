package org.stele.tserver;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.stele.client.SteleClient;
import org.stele.client.SystemCalls;
import org.stele.core.time.Clock;
import org.stele.tserver.coordinator.TableTasks.TabletWork;
import org.stele.tserver.coordinator.TabletCommands;
import org.stele.tserver.coordinator.TabletStatus;

/** Commands to servers by the ordinary client path. Thread-safe. */
final class ClientTabletCommands implements TabletCommands, TabletWork {
  /** Closing may flush. */
  private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(60);

  private static final Duration LEAST = Duration.ofMillis(1);

  private final SystemCalls calls;
  private final Clock clock;

  ClientTabletCommands(SteleClient client, Clock clock) {
    this.calls = client.system();
    this.clock = clock;
  }

  @Override
  public void open(String address, List<String> tabletIds) {
    calls.openTablets(address, tabletIds);
  }

  @Override
  public void close(String address, String tabletId, boolean flush) {
    calls.closeTablet(address, tabletId, flush, CLOSE_DEADLINE);
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

  private Duration left(long deadlineNanos) {
    Duration left = Duration.ofNanos(deadlineNanos - clock.nanos());
    return left.compareTo(LEAST) < 0 ? LEAST : left;
  }
}
