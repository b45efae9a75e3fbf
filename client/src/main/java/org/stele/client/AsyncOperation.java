package org.stele.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.stele.client.location.Location;
import org.stele.client.retry.AttemptException;
import org.stele.client.retry.Attempts;
import org.stele.client.retry.RetryPolicy;
import org.stele.client.rpc.Answer;
import org.stele.client.rpc.CallLimits;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/**
 * An operation on the tablet of a row whose caller does not wait: the same attempts and rules as
 * those of {@link ClientCore#run}, each step begun by the end of the one before. One step runs at a
 * time, on the caller's thread (the first attempt at a known location), a connection's (answers),
 * or one of {@link ClientThreads}. Whatever a step throws ends the operation: its future never
 * stays open.
 */
final class AsyncOperation<R> {
  private final ClientCore core;
  private final Bytes row;
  private final Send<R> send;
  private final RetryPolicy.Operation operation;
  private final Attempts attempts;
  private final TableFreshness freshness;
  private final CompletableFuture<R> future = new CompletableFuture<>();

  AsyncOperation(
      ClientCore core, String what, String table, Bytes row, boolean changes, Send<R> send) {
    this.core = core;
    this.row = row;
    this.send = send;
    this.operation = () -> TabletRouter.describe(what, table, row);
    this.freshness = new TableFreshness(core.locations(), table);
    this.attempts = core.retry().begin(operation, changes, core.deadlineFromNow());
  }

  /** Makes the first attempt; the future is completed by a thread of the client. */
  CompletableFuture<R> start() {
    if (core.threads().isBehind()) {
      return CompletableFuture.failedFuture(rejected());
    }
    step(this::begin);
    return future;
  }

  /** Runs a step; what it throws ends the operation. */
  private void step(Runnable step) {
    if (future.isDone()) {
      return;
    }
    try {
      step.run();
    } catch (RejectedExecutionException e) {
      end(rejected());
    } catch (RuntimeException | Error e) {
      end(
          e instanceof SteleException known
              ? known
              : new SteleException(
                  attempts.isOutcomeUnknown() ? ErrorCode.UNKNOWN_OUTCOME : ErrorCode.INTERNAL,
                  operation.describe() + " failed: " + e,
                  e));
    }
  }

  private void begin() {
    String tableId = core.locations().cachedTableId(freshness.table());
    Location location = tableId == null ? null : core.locations().cached(tableId, row);
    if (location != null) {
      attempt(location);
    } else {
      locateInBackground();
    }
  }

  private void locateInBackground() {
    core.threads().work(() -> step(this::locateAndAttempt));
  }

  private void locateAndAttempt() {
    if (core.isClosed()) {
      throw rejected();
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
      throw rejected();
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
            step(() -> AsyncOperation.this.failed(location, failure));
          }
        });
  }

  private void failed(@Nullable Location location, AttemptException failure) {
    AttemptException named = TableFreshness.at(location, failure);
    if (core.isClosed()) {
      throw core.closedException(attempts.isOutcomeUnknown() || failure.isOutcomeUnknown());
    }
    if (freshness.handled(location, failure)) {
      attempts.again(named);
      locateInBackground();
      return;
    }
    core.threads()
        .workAfter(
            attempts.failed(named), () -> step(this::locateAndAttempt), () -> end(rejected()));
  }

  /** Why no thread takes the next step. */
  private SteleException rejected() {
    return core.rejectedException(attempts.isOutcomeUnknown());
  }

  private void end(SteleException failure) {
    core.threads().complete(() -> future.completeExceptionally(failure));
  }

  /** Sends one attempt; must not block. */
  @FunctionalInterface
  interface Send<R> {
    void send(Location location, String tableId, CallLimits limits, Answer<R> answer);
  }
}
