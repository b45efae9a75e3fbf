package org.stele.client.location;

import org.stele.core.data.Extent;

/**
 * Where a tablet is, or was when this was read.
 *
 * @param address {@code host:port}
 */
public record Location(String tabletId, Extent extent, String address) {
  @Override
  public String toString() {
    return "tablet " + tabletId + " " + extent + " at " + address;
  }
}
