package org.stele.tserver.tablet;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.stele.tserver.files.FileSet;
import org.stele.tserver.memtable.Memtable;

/**
 * What a tablet consists of between two changes: memtables and files, which together hold all its
 * cells. Immutable but for the newest memtable, to which cells are added; counted: the tablet is a
 * user while the state is the current one, and so is every open view. The last user's release lets
 * memtables and files go.
 */
final class ViewState {
  /** Added to the users when the last is gone, so that nobody becomes one again. */
  private static final int ENDED = Integer.MIN_VALUE / 2;

  private final List<SharedMemtable> shared;

  /** The same memtables, newest first: as an array for those who read. */
  final Memtable[] memtables;

  final FileSet files;

  /**
   * The lowest sequence at which the tablet can be read: versions that were hidden at it may be
   * gone from the files.
   */
  final long oldestReadable;

  private final AtomicInteger users = new AtomicInteger(1);

  /** Made by the tablet, while another state that it is made from is retained. */
  ViewState(List<SharedMemtable> shared, FileSet files, long oldestReadable) {
    this.shared = List.copyOf(shared);
    this.memtables = shared.stream().map(SharedMemtable::memtable).toArray(Memtable[]::new);
    this.files = files;
    this.oldestReadable = oldestReadable;
    shared.forEach(SharedMemtable::retain);
    files.retain();
  }

  /** Newest first. */
  List<SharedMemtable> shared() {
    return shared;
  }

  SharedMemtable active() {
    return shared.get(0);
  }

  /** False: the state has ended. */
  boolean retain() {
    if (users.getAndIncrement() > 0) {
      return true;
    }
    release();
    return false;
  }

  void release() {
    if (users.decrementAndGet() == 0 && users.compareAndSet(0, ENDED)) {
      shared.forEach(SharedMemtable::release);
      files.release();
    }
  }
}
