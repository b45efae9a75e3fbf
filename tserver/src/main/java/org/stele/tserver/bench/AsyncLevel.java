package org.stele.tserver.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandFailure;

/**
 * Keeps a number of calls in flight without a thread for each: as soon as one is answered the next
 * is begun, by the thread that heard of the answer. Else as {@link Level}.
 */
final class AsyncLevel {
  private static final Duration END_LIMIT = Duration.ofSeconds(90);

  private final int inFlight;
  private final AsyncOperation.Factory factory;
  private final @Nullable Long serverPid;
  private final Measurement measurement = new Measurement();
  private final CountDownLatch ended;

  AsyncLevel(int inFlight, @Nullable Long serverPid, AsyncOperation.Factory factory) {
    this.inFlight = inFlight;
    this.serverPid = serverPid;
    this.factory = factory;
    this.ended = new CountDownLatch(inFlight);
  }

  LevelResult run(Duration warmUp, Duration measure) {
    List<Slot> slots = new ArrayList<>();
    try {
      for (int i = 0; i < inFlight; i++) {
        slots.add(new Slot(factory.create(i)));
      }
      slots.forEach(Slot::begin);
      Measurement.Span span = measurement.run(warmUp, measure, serverPid);
      awaitEnd();
      Latencies all = new Latencies();
      slots.forEach(slot -> all.add(slot.latencies));
      return new LevelResult(inFlight, span.nanos(), all, span.server());
    } finally {
      measurement.end();
      slots.forEach(slot -> slot.operation.close());
    }
  }

  private void awaitEnd() {
    try {
      if (!ended.await(END_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new CommandFailure("a call has not ended within " + END_LIMIT.toSeconds() + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
    measurement.throwFailure();
  }

  /**
   * One of the calls that are in flight. It belongs to the thread that begins it or hears of its
   * end; from one to the next it goes by way of the client.
   */
  private final class Slot {
    final AsyncOperation operation;
    final Latencies latencies = new Latencies();

    Slot(AsyncOperation operation) {
      this.operation = operation;
    }

    /** Begins calls until one is not answered at once; its end goes on. */
    void begin() {
      OneCall call;
      do {
        Measurement.Phase begun = measurement.phase();
        if (begun == Measurement.Phase.END) {
          ended.countDown();
          return;
        }
        call = new OneCall(this, begun);
        operation.begin(call);
      } while (call.isSecond());
    }
  }

  private final class OneCall implements AsyncOperation.End {
    private final Slot slot;
    private final Measurement.Phase begun;
    private final long start = System.nanoTime();

    /** Set by the first of two: the return of who began it, and the answer. */
    private final AtomicBoolean first = new AtomicBoolean();

    OneCall(Slot slot, Measurement.Phase begun) {
      this.slot = slot;
      this.begun = begun;
    }

    /** Whether the other of the two has happened: so this one goes on with the slot. */
    boolean isSecond() {
      return !first.compareAndSet(false, true);
    }

    @Override
    public void done() {
      long end = System.nanoTime();
      if (measurement.counts(begun)) {
        slot.latencies.record(end - start, 1);
      }
      if (isSecond()) {
        slot.begin();
      }
    }

    @Override
    public void failed(Throwable reason) {
      measurement.fail(reason);
      done();
    }
  }
}
