package org.stele.client;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.Location;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.rpc.CallLimits;
import org.stele.client.rpc.ScanAnswer;
import org.stele.core.data.Cell;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * Gives the cells of a scan, and from the third batch on has the next one fetched meanwhile. Not
 * thread-safe; the fetch beside it works on {@link #progress} alone, which its caller does not
 * touch until it has the result.
 */
final class ScanCursor implements Iterator<Cell> {
  /** A short scan should not fetch what nobody wants. */
  private static final int BATCHES_BEFORE_PREFETCH = 2;

  private final ClientCore core;
  private final String table;
  private final TableFreshness freshness;
  private final ScanProgress progress;
  private List<Cell> batch = List.of();
  private int next;
  private int batches;
  private @Nullable Future<List<Cell>> prefetch;
  private @Nullable SteleException failure;
  private boolean closed;

  ScanCursor(ClientCore core, String table, ScannerBuilder.Scan scan) {
    this.core = core;
    this.table = table;
    this.freshness = new TableFreshness(core.locations(), table);
    this.progress = new ScanProgress(scan);
  }

  @Override
  public boolean hasNext() {
    if (next < batch.size()) {
      return true;
    }
    if (closed) {
      throw new IllegalStateException("the scanner is closed");
    }
    if (failure != null) {
      throw failure;
    }
    batch = List.of();
    next = 0;
    try {
      batch = nextBatch();
    } catch (SteleException e) {
      failure = e;
      throw e;
    }
    return !batch.isEmpty();
  }

  @Override
  public Cell next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the scan is at its end");
    }
    return batch.get(next++);
  }

  private List<Cell> nextBatch() {
    Future<List<Cell>> fetched = prefetch;
    prefetch = null;
    List<Cell> cells = fetched == null ? fetch() : await(fetched);
    batches++;
    if (batches >= BATCHES_BEFORE_PREFETCH && !progress.isDone()) {
      prefetch = core.threads().tryBeside(this::fetch);
    }
    return cells;
  }

  private List<Cell> await(Future<List<Cell>> fetched) {
    try {
      return fetched.get();
    } catch (InterruptedException e) {
      fetched.cancel(true);
      Thread.currentThread().interrupt();
      throw new OperationInterruptedException(false, "scan of table " + table, e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SteleException known) {
        throw known;
      }
      throw new SteleException(
          ErrorCode.INTERNAL, "the scan of table " + table + " failed", e.getCause());
    } catch (CancellationException e) {
      throw core.closedException();
    }
  }

  /** The next cells, as many as come in one answer; none at the end. */
  private List<Cell> fetch() {
    if (progress.isDone()) {
      return List.of();
    }
    return core.run(
        () -> "scan of table " + table + " from " + progress.place(),
        false,
        core.deadlineFromNow(),
        this::attempt);
  }

  private List<Cell> attempt(Attempts attempts) throws InterruptedException {
    while (!progress.isDone()) {
      CallLimits limits = core.limits(attempts);
      if (attempts.leftNanos() <= 0) {
        throw AttemptException.timedOut("(none)", "the row did not become whole in time");
      }
      Location location = null;
      try {
        String tableId = freshness.tableId(limits);
        location = core.locations().locate(tableId, progress.row(), limits);
        ScanAnswer answer =
            core.tabletCalls().scan(location.address(), progress.query(tableId), limits);
        List<Cell> cells = progress.accept(location.address(), answer);
        if (!cells.isEmpty()) {
          return cells;
        }
      } catch (AttemptException e) {
        if (e.refreshesLocation()) {
          progress.relocate();
        }
        AttemptException named = TableFreshness.at(location, e);
        if (!freshness.handled(location, e)) {
          throw named;
        }
        attempts.again(named);
      }
    }
    return List.of();
  }

  void close() {
    closed = true;
    batch = List.of();
    next = 0;
    Future<List<Cell>> fetched = prefetch;
    if (fetched != null) {
      fetched.cancel(true);
    }
  }
}
