package org.stele.tserver.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.stele.tserver.files.FileReference;

/** One tablet's row of the metadata in memory, which can hold and fail changes. Thread-safe. */
public final class MemoryCatalog implements FileCatalog {
  @GuardedBy("this")
  private final List<FileReference> files = new ArrayList<>();

  @GuardedBy("this")
  private final Set<String> toDelete = new HashSet<>();

  @GuardedBy("this")
  private long flushedSequence;

  @GuardedBy("this")
  private long timeFloor;

  private final AtomicInteger failuresBefore = new AtomicInteger();
  private final AtomicInteger failuresAfter = new AtomicInteger();
  private volatile @Nullable CountDownLatch held;
  private volatile @Nullable CountDownLatch reached;
  private volatile boolean lost;

  public synchronized List<FileReference> files() {
    return List.copyOf(files);
  }

  public synchronized long flushedSequence() {
    return flushedSequence;
  }

  public synchronized long timeFloor() {
    return timeFloor;
  }

  public synchronized Set<String> toDelete() {
    return Set.copyOf(toDelete);
  }

  /** So many changes fail and are not made. */
  public void failBefore(int changes) {
    failuresBefore.set(changes);
  }

  /** So many changes are made and their answers fail. */
  public void failAfter(int changes) {
    failuresAfter.set(changes);
  }

  /** The row names another owner from now on. */
  public void lose() {
    lost = true;
  }

  /** The next change waits until it is released. */
  public void hold() {
    reached = new CountDownLatch(1);
    held = new CountDownLatch(1);
  }

  public void awaitHeld() throws InterruptedException {
    if (!reached.await(30, TimeUnit.SECONDS)) {
      throw new AssertionError("no change came");
    }
  }

  public void release() {
    held.countDown();
  }

  private void before(TabletIdentity tablet) throws IOException {
    CountDownLatch latch = held;
    if (latch != null) {
      reached.countDown();
      try {
        if (!latch.await(60, TimeUnit.SECONDS)) {
          throw new AssertionError("a held change was not released");
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      held = null;
    }
    if (lost) {
      throw new LostTabletException(tablet + " belongs to another server");
    }
    if (failuresBefore.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new IOException("the metadata is not there");
    }
  }

  private void after() throws IOException {
    if (failuresAfter.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new IOException("the answer of the metadata was lost");
    }
  }

  @Override
  public void commitFlush(
      TabletIdentity tablet, @Nullable FileReference added, long newFlushed, long newTimeFloor)
      throws IOException {
    before(tablet);
    synchronized (this) {
      if (added != null && !files.contains(added)) {
        files.add(added);
      }
      flushedSequence = newFlushed;
      timeFloor = newTimeFloor;
    }
    after();
  }

  @Override
  public void commitCompaction(
      TabletIdentity tablet, List<FileReference> removed, @Nullable FileReference added)
      throws IOException {
    before(tablet);
    synchronized (this) {
      boolean repeated = added == null ? !files.containsAll(removed) : files.contains(added);
      if (!repeated) {
        if (!files.removeAll(removed)) {
          throw new AssertionError(removed + " are not in " + files);
        }
        removed.forEach(file -> toDelete.add(file.fileId()));
        if (added != null) {
          files.add(added);
        }
      }
    }
    after();
  }

  @Override
  public synchronized void commitDeletion(String tableId, List<String> fileIds) {
    toDelete.removeAll(fileIds);
  }
}
