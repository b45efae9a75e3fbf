package org.stele.tserver;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.time.Clock;
import org.stele.tserver.coordinator.TabletStatus;

/**
 * Whether a server is ready, and why not. It is ready when it may acknowledge, and its tablets were
 * once served as far as that can be: what comes and goes later (a table that is made, a tablet that
 * moves, a coordinator that begins anew) does not make it unready again. Thread-safe.
 */
final class Readiness {
  private final Supplier<@Nullable Lease> lease;
  private final String zookeeper;
  private final Tablets tablets;
  private final Supplier<Map<String, TabletStatus>> statuses;
  private final Clock clock;

  /** What allows a server to acknowledge. */
  interface Lease {
    boolean holds();

    /** On the clock's nanoseconds. */
    long endNanos();
  }

  /** How far the coordinator's work has come, as this server knows it. */
  interface Tablets {
    /** Whether all tablets were open, or known to be impossible to open. */
    boolean wereSettled();

    /** Why the last pass failed; null if it did not. */
    @Nullable String trouble();
  }

  /**
   * @param lease null while there is no lock node
   * @param zookeeper where it is, for people
   * @param statuses of the tablets given to this server, by id
   */
  Readiness(
      Supplier<@Nullable Lease> lease,
      String zookeeper,
      Tablets tablets,
      Supplier<Map<String, TabletStatus>> statuses,
      Clock clock) {
    this.lease = lease;
    this.zookeeper = zookeeper;
    this.tablets = tablets;
    this.statuses = statuses;
    this.clock = clock;
  }

  boolean isReady() {
    return notReadyReason().isEmpty();
  }

  /** Empty if it is ready. */
  String notReadyReason() {
    Lease held = lease.get();
    if (held == null) {
      return "the server has no place at ZooKeeper " + zookeeper + " yet";
    }
    if (!held.holds()) {
      long millis = TimeUnit.NANOSECONDS.toMillis(clock.nanos() - held.endNanos());
      return "no lease for "
          + Math.max(0, millis)
          + " ms: ZooKeeper at "
          + zookeeper
          + " acknowledges nothing";
    }
    return tablets.wereSettled() ? "" : whatTabletsWaitFor();
  }

  private String whatTabletsWaitFor() {
    for (Map.Entry<String, TabletStatus> tablet : statuses.get().entrySet()) {
      if (!tablet.getValue().reason().isEmpty()) {
        return "tablet " + tablet.getKey() + ": " + tablet.getValue().reason();
      }
    }
    String trouble = tablets.trouble();
    return trouble == null ? "tablets are being opened" : "the coordinator failed: " + trouble;
  }
}
