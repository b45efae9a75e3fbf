package org.stele.tserver.tablet;

/** What a tablet tells those who look after it; called on the log's threads, must not block. */
public interface TabletEvents {
  /** The memtable has reached the size at which a tablet is flushed. */
  void memtableFull(Tablet tablet);
}
