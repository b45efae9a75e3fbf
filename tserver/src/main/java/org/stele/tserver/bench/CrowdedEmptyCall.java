package org.stele.tserver.bench;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * The empty call of a Stele server that is measured without company, too, now while others keep
 * connections to the same server. They come before each level and leave after it.
 */
final class CrowdedEmptyCall implements MeasuredSystem {
  private static final Duration LEAVE_LIMIT = Duration.ofSeconds(60);
  private static final long POLL_MILLIS = 20;

  private final SteleEmptyCall alone;
  private final int connections;
  private final boolean junk;
  private Company.Count company = new Company.Count(0, 0, 0);
  private @Nullable Object residentWithCompany;

  /**
   * @param alone which its owner closes
   * @param connections beside those of the callers
   * @param junk whether there is a flood of junk
   */
  CrowdedEmptyCall(SteleEmptyCall alone, int connections, boolean junk) {
    this.alone = alone;
    this.connections = connections;
    this.junk = junk;
  }

  @Override
  public String name() {
    return alone.name() + "-crowded";
  }

  @Override
  public LevelResult run(int callers, Duration warmUp, Duration measure) {
    try {
      long before = alone.connections();
      LevelResult result = runInCompany(callers, warmUp, measure);
      awaitAlone(before);
      return result;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
  }

  private LevelResult runInCompany(int callers, Duration warmUp, Duration measure) {
    try (Company around =
        Company.gather(BenchServer.socketAddress(alone.address()), connections, junk)) {
      LevelResult result = alone.run(callers, warmUp, measure);
      company = around.count();
      residentWithCompany = alone.description().get("resident_kib");
      return result;
    }
  }

  /** Until the server has no more connections than before, but those that the callers use. */
  private void awaitAlone(long before) throws InterruptedException {
    long deadline = System.nanoTime() + LEAVE_LIMIT.toNanos();
    long now = alone.connections();
    while (now > before + SteleEmptyCall.CONNECTIONS) {
      if (System.nanoTime() - deadline > 0) {
        throw new CommandFailure(
            "the server still has "
                + now
                + " connections, "
                + LEAVE_LIMIT.toSeconds()
                + " s after all but ours were closed; there were "
                + before);
      }
      BenchServer.pause(POLL_MILLIS);
      now = alone.connections();
    }
  }

  @Override
  public Map<String, @Nullable Object> description() {
    Map<String, @Nullable Object> description = new LinkedHashMap<>(alone.description());
    description.put("resident_kib", residentWithCompany);
    description.put("idle_connections", company.connections());
    description.put("lost_connections", company.lost());
    description.put("junk_connections", company.junk());
    return description;
  }

  @Override
  public void close() {
    // The server is that of the other.
  }
}
