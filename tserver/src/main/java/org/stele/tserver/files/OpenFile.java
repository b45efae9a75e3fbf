package org.stele.tserver.files;

import java.util.concurrent.atomic.AtomicInteger;
import org.stele.core.sortedfile.SortedFileReader;

/**
 * An open sorted file, shared and counted: its reader is closed when the last user lets it go, and
 * if it was dropped the file is then given to the collector. Thread-safe.
 */
public final class OpenFile {
  private final OpenFiles owner;
  private final String tableId;
  private final String fileId;
  private final SortedFileReader reader;

  // Own synchronization.
  private final AtomicInteger users = new AtomicInteger(1);
  private volatile boolean dropped;

  OpenFile(OpenFiles owner, String tableId, String fileId, SortedFileReader reader) {
    this.owner = owner;
    this.tableId = tableId;
    this.fileId = fileId;
    this.reader = reader;
  }

  public String fileId() {
    return fileId;
  }

  String tableId() {
    return tableId;
  }

  public SortedFileReader reader() {
    return reader;
  }

  boolean isDropped() {
    return dropped;
  }

  /** Metadata names the file no more: it is deleted some time after its last user has let it go. */
  public void drop() {
    dropped = true;
  }

  /** One more user; legal for a user only. */
  public void retain() {
    if (!tryRetain()) {
      throw new IllegalStateException("file " + fileId + " is closed");
    }
  }

  boolean tryRetain() {
    int before;
    do {
      before = users.get();
      if (before == 0) {
        return false;
      }
    } while (!users.compareAndSet(before, before + 1));
    return true;
  }

  /** One user less. */
  public void release() {
    int left = users.decrementAndGet();
    if (left == 0) {
      owner.closed(this);
    } else if (left < 0) {
      throw new IllegalStateException("file " + fileId + " is let go more often than taken");
    }
  }

  @Override
  public String toString() {
    return FileNames.path(tableId, fileId);
  }
}
