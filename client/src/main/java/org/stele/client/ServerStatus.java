package org.stele.client;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a server says about itself.
 *
 * @param notReadyReason null if it is ready
 * @param up since its process started
 * @param tablets that it serves
 * @param counters by name; what each counts is in its name's documentation
 */
public record ServerStatus(
    String instanceId,
    String session,
    String address,
    String version,
    boolean ready,
    @Nullable String notReadyReason,
    Duration up,
    int tablets,
    Map<String, Long> counters) {
  public ServerStatus {
    counters = Map.copyOf(counters);
  }
}
