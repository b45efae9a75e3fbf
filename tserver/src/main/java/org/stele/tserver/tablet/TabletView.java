package org.stele.tserver.tablet;

import java.util.List;
import org.stele.tserver.files.TabletFile;
import org.stele.tserver.memtable.Memtable;

/**
 * A tablet as it is at one sequence: everything written up to it, and nothing that a reader may not
 * pass over by its sequence. Holds memtables and files until it is closed; used by one thread.
 */
public final class TabletView implements AutoCloseable {
  private final Tablet tablet;
  private final ViewState state;
  private final long readSequence;
  private boolean open = true;

  TabletView(Tablet tablet, ViewState state, long readSequence) {
    this.tablet = tablet;
    this.state = state;
    this.readSequence = readSequence;
  }

  public Tablet tablet() {
    return tablet;
  }

  public TabletExtent extent() {
    return tablet.extent();
  }

  /** The newest sequence that is visible; cells with a higher one are to be passed over. */
  public long readSequence() {
    return readSequence;
  }

  /** Below it the tablet can no longer be read as it was. */
  public long oldestReadableSequence() {
    return state.oldestReadable;
  }

  /** Newest first; not to be changed. */
  public Memtable[] memtables() {
    return state.memtables;
  }

  /** Oldest first. */
  public List<TabletFile> files() {
    return state.files.files();
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      state.release();
    }
  }
}
