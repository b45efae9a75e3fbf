package org.stele.peers.harness;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Threads that each issue one operation after another. Only operations that begin and end while the
 * loop is measuring count.
 */
final class ClosedLoop {

  /** An operation of one thread; closed at the end if it is {@link AutoCloseable}. */
  interface Operation {
    /** Returns how many units (cells, mutations) it handled, or a negative number if it failed. */
    int once() throws Exception;
  }

  interface OperationFactory {
    Operation make(int thread) throws Exception;
  }

  /** Told when measuring begins, and again when it ends and before the threads do. */
  interface Observer {
    void begin() throws IOException;

    void end() throws IOException;
  }

  record Result(Histogram latencies, long units, long failures, long[] sortedOperationsOfThreads) {}

  private enum Phase {
    WARMING,
    MEASURING,
    STOPPING
  }

  private final int threads;
  private final double warmSeconds;
  private final double measuredSeconds;
  private final OperationFactory factory;

  private final CountDownLatch running;
  private final AtomicReference<Throwable> firstFailure = new AtomicReference<>();
  private volatile Phase phase = Phase.WARMING;

  ClosedLoop(int threads, double warmSeconds, double measuredSeconds, OperationFactory factory) {
    this.threads = threads;
    this.warmSeconds = warmSeconds;
    this.measuredSeconds = measuredSeconds;
    this.factory = factory;
    this.running = new CountDownLatch(threads);
  }

  int threads() {
    return threads;
  }

  /** Can be called once. */
  Result run(Observer observer) throws Exception {
    Client[] clients = new Client[threads];
    for (int i = 0; i < threads; i++) {
      clients[i] = new Client(factory.make(i));
    }
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(clients[i], "client-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    runFor(warmSeconds);
    observer.begin();
    phase = Phase.MEASURING;
    runFor(measuredSeconds);
    phase = Phase.STOPPING;
    observer.end();
    if (!running.await(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException(running.getCount() + " operations did not end");
    }
    return collect(clients);
  }

  /** Lets the clients run; returns early when all have given up. */
  private void runFor(double seconds) throws InterruptedException {
    if (running.await((long) (seconds * 1e6), TimeUnit.MICROSECONDS)) {
      throw new IllegalStateException("all clients gave up", firstFailure.get());
    }
  }

  private Result collect(Client[] clients) throws Exception {
    Histogram latencies = new Histogram();
    long units = 0;
    long failures = 0;
    long[] operations = new long[threads];
    for (int i = 0; i < threads; i++) {
      Client client = clients[i];
      latencies.add(client.latencies);
      units += client.units;
      failures += client.failures;
      operations[i] = client.latencies.count();
      if (client.operation instanceof AutoCloseable closeable) {
        closeable.close();
      }
    }
    Throwable failure = firstFailure.get();
    if (failure instanceof WrongAnswerException wrong) {
      throw wrong;
    }
    if (failure != null) {
      System.err.println("first of " + failures + " failures: " + failure);
    }
    Arrays.sort(operations);
    return new Result(latencies, units, failures, operations);
  }

  /** The state of one thread. */
  private final class Client implements Runnable {
    private final Operation operation;
    private final Histogram latencies = new Histogram();
    private long units;
    private long failures;

    Client(Operation operation) {
      this.operation = operation;
    }

    @Override
    public void run() {
      try {
        Phase before;
        while ((before = phase) != Phase.STOPPING) {
          long start = System.nanoTime();
          int handled = attempt();
          long nanos = System.nanoTime() - start;
          if (before == Phase.MEASURING && phase == Phase.MEASURING) {
            count(handled, nanos);
          }
        }
      } catch (WrongAnswerException e) {
        firstFailure.set(e);
      } finally {
        running.countDown();
      }
    }

    private int attempt() {
      try {
        return operation.once();
      } catch (WrongAnswerException e) {
        throw e;
      } catch (Exception e) {
        firstFailure.compareAndSet(null, e);
        return -1;
      }
    }

    private void count(int handled, long nanos) {
      if (handled < 0) {
        failures++;
      } else {
        latencies.record(nanos);
        units += handled;
      }
    }
  }
}
