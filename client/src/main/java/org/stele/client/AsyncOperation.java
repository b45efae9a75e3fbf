package org.stele.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.Location;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.rpc.Answer;
import org.stele.client.rpc.CallLimits;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * An operation on the tablet of a row whose caller does not wait: the same attempts and rules as
 * those of {@link ClientCore#run}, each step begun by the end of the one before. One step runs at a
 * time, on the caller's thread (the first attempt at a known location), a connection's (answers),
 * or one of {@link ClientThreads}.
 */
final class AsyncOperation<R> {
  private final ClientCore core;
  private final Bytes row;
  private final Send<R> send;
  private final Attempts attempts;
  private final TableFreshness freshness;
  private final CompletableFuture<R> future = new CompletableFuture<>();

  AsyncOperation(
      ClientCore core, String what, String table, Bytes row, boolean changes, Send<R> send) {
    this.core = core;
    this.row = row;
    this.send = send;
    this.freshness = new TableFreshness(core.locations(), table);
    this.attempts =
        core.retry()
            .begin(() -> TabletRouter.describe(what, table, row), changes, core.deadlineFromNow());
  }

  /** Makes the first attempt; the future is completed by a thread of the client. */
  CompletableFuture<R> start() {
    String tableId = core.locations().cachedTableId(freshness.table());
    Location location = tableId == null ? null : core.locations().cached(tableId, row);
    if (location != null) {
      attempt(location);
    } else {
      locateInBackground();
    }
    return future;
  }

  private void locateInBackground() {
    try {
      core.threads().work(this::locateAndAttempt);
    } catch (RejectedExecutionException e) {
      end(rejected());
    }
  }

  private void locateAndAttempt() {
    if (core.isClosed()) {
      end(rejected());
      return;
    }
    CallLimits limits = core.limits(attempts);
    Location location;
    try {
      location = core.locations().locate(freshness.tableId(limits), row, limits);
    } catch (AttemptException e) {
      failed(null, e);
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      end(rejected());
      return;
    } catch (RuntimeException e) {
      end(e);
      return;
    }
    attempt(location);
  }

  private void attempt(Location location) {
    String tableId = location.extent().tableId();
    freshness.uses(tableId);
    send.send(
        location,
        tableId,
        core.limits(attempts),
        new Answer<>() {
          @Override
          public void answered(R value) {
            core.threads().complete(() -> future.complete(value));
          }

          @Override
          public void failed(AttemptException failure) {
            AsyncOperation.this.failed(location, failure);
          }
        });
  }

  private void failed(@Nullable Location location, AttemptException failure) {
    AttemptException named = TableFreshness.at(location, failure);
    if (core.isClosed()) {
      end(core.closedException(attempts.isOutcomeUnknown() || failure.isOutcomeUnknown()));
      return;
    }
    if (freshness.handled(location, failure)) {
      attempts.again(named);
      locateInBackground();
      return;
    }
    try {
      core.threads()
          .workAfter(attempts.failed(named), this::locateAndAttempt, () -> end(rejected()));
    } catch (SteleException e) {
      end(e);
    } catch (RejectedExecutionException e) {
      end(rejected());
    }
  }

  /** Why no thread takes the next step. */
  private SteleException rejected() {
    return core.isClosed()
        ? core.closedException(attempts.isOutcomeUnknown())
        : new SteleException(
            attempts.isOutcomeUnknown() ? ErrorCode.UNKNOWN_OUTCOME : ErrorCode.BUSY,
            "too many asynchronous operations wait in this client");
  }

  private void end(RuntimeException failure) {
    core.threads().complete(() -> future.completeExceptionally(failure));
  }

  /** Sends one attempt; must not block. */
  @FunctionalInterface
  interface Send<R> {
    void send(Location location, String tableId, CallLimits limits, Answer<R> answer);
  }
}
