package org.stele.client.rpc;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A server about itself.
 *
 * @param notReadyReason null if it is ready
 */
public record StatusAnswer(
    String instanceId,
    String session,
    String address,
    String version,
    boolean ready,
    @Nullable String notReadyReason,
    long upMillis,
    int tablets,
    Map<String, Long> counters) {}
