package org.stele.tserver.write;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.Durability;
import org.stele.core.data.WriterStamp;
import org.stele.core.error.SteleException;

/**
 * A request under way: waits until each of its tablet writes is settled, then completes.
 * Thread-safe.
 */
final class PendingBatch {
  private final @Nullable Durability durability;
  private final long deadlineNanos;
  private final WriterStamp writer;
  private final WriteCompletion completion;

  /** Tablet writes not settled, and one for the thread that still takes the request apart. */
  @GuardedBy("this")
  private int open = 1;

  @GuardedBy("this")
  private @Nullable List<WriteFailure> failures;

  PendingBatch(WriteBatch batch, WriteCompletion completion) {
    this.durability = batch.durability();
    this.deadlineNanos = batch.deadlineNanos();
    this.writer = batch.writer();
    this.completion = completion;
  }

  @Nullable Durability durability() {
    return durability;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  WriterStamp writer() {
    return writer;
  }

  /** Before any of {@code writes} tablet writes is on its way. */
  synchronized void expect(int writes) {
    open += writes;
  }

  /** One mutation was refused while the request was taken apart. */
  synchronized void refused(int index, SteleException error) {
    addFailure(index, error);
  }

  /** A tablet write was done, or the request is taken apart. */
  void settled() {
    List<WriteFailure> result;
    synchronized (this) {
      if (--open > 0) {
        return;
      }
      result = failures == null ? List.of() : failures;
    }
    if (result.size() > 1) {
      result.sort(Comparator.comparingInt(WriteFailure::index));
    }
    completion.done(result);
  }

  /** A tablet write with these mutations failed. */
  void failed(int[] indexes, SteleException error) {
    synchronized (this) {
      for (int index : indexes) {
        addFailure(index, error);
      }
    }
    settled();
  }

  @GuardedBy("this")
  private void addFailure(int index, SteleException error) {
    if (failures == null) {
      failures = new ArrayList<>();
    }
    failures.add(new WriteFailure(index, error));
  }
}
