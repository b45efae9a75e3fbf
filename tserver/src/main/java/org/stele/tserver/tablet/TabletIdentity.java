package org.stele.tserver.tablet;

/**
 * A tablet as this server was given it.
 *
 * @param epoch of the assignment; the owner's changes of metadata are conditional on it
 */
public record TabletIdentity(String tabletId, String tableId, int epoch) {
  @Override
  public String toString() {
    return "tablet " + tabletId + " of table " + tableId + " (epoch " + epoch + ")";
  }
}
