package org.stele.client;

import org.jspecify.annotations.Nullable;
import org.stele.core.data.Extent;

/**
 * A tablet and where it is served.
 *
 * @param session of the server, null: it is assigned to none
 * @param address of the server, {@code host:port}; null: it is assigned to none
 * @param epoch of the last assignment; 0 if there was none
 */
public record TabletInfo(
    String id, Extent extent, @Nullable String session, @Nullable String address, long epoch) {}
