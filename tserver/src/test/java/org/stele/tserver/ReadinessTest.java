package org.stele.tserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.stele.core.time.ManualClock;
import org.stele.tserver.coordinator.TabletStatus;
import org.stele.tserver.coordinator.TabletStatus.State;

/** What people are told who wait for a server. */
class ReadinessTest implements Readiness.Lease, Readiness.Tablets {
  private final ManualClock clock = new ManualClock();
  private final Map<String, TabletStatus> statuses = new TreeMap<>();
  private boolean exists = true;
  private boolean holds = true;
  private boolean settled;
  private @Nullable String trouble;
  private final long end = clock.nanos();
  private final Readiness readiness =
      new Readiness(
          () -> exists ? this : null, "127.0.0.1:9641/stele", this, () -> statuses, clock);

  @Override
  public boolean holds() {
    return holds;
  }

  @Override
  public long endNanos() {
    return end;
  }

  @Override
  public boolean wereSettled() {
    return settled;
  }

  @Override
  public @Nullable String trouble() {
    return trouble;
  }

  @Test
  void isReadyWithALeaseWhenTabletsWereServedOnce() {
    settled = true;
    trouble = "a pass that failed later";
    statuses.put("a1", new TabletStatus(State.FAILED, "its log is damaged"));
    assertTrue(readiness.isReady());
    assertEquals("", readiness.notReadyReason());
  }

  @Test
  void aServerWithoutALeaseNamesZooKeeper() {
    settled = true;
    holds = false;
    clock.advance(Duration.ofMillis(4200));
    assertFalse(readiness.isReady());
    assertEquals(
        "no lease for 4200 ms: ZooKeeper at 127.0.0.1:9641/stele acknowledges nothing",
        readiness.notReadyReason());
    exists = false;
    assertEquals(
        "the server has no place at ZooKeeper 127.0.0.1:9641/stele yet",
        readiness.notReadyReason());
  }

  @Test
  void whatIsKnownOfATabletOrOfTheCoordinatorIsTheReason() {
    assertEquals("tablets are being opened", readiness.notReadyReason());
    trouble = "ZooKeeper does not answer";
    assertEquals("the coordinator failed: ZooKeeper does not answer", readiness.notReadyReason());
    statuses.put("a1", new TabletStatus(State.OPENING, ""));
    statuses.put("a2", new TabletStatus(State.FAILED, "its log is damaged"));
    assertEquals("tablet a2: its log is damaged", readiness.notReadyReason());
  }
}
