package org.stele.test.cases;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.stele.client.SteleClient;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.test.check.AckLedger;

/**
 * Threads that write keys of their own, one after the other, and note in a ledger what became of
 * each: with UNKNOWN_OUTCOME it may have been done, with every other code it was not.
 */
final class LedgerWriters implements AutoCloseable {
  static final String TABLE = "ledger";

  private final SteleClient client;
  private final AckLedger ledger;
  private final AtomicInteger next;
  private final String filler;
  private final AtomicInteger acked = new AtomicInteger();
  private final AtomicLong longestNanos = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private final List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
  private volatile boolean ended;

  /**
   * @param next gives numbers of keys, over all writers of the ledger
   * @param valueBytes size of values, at least
   */
  LedgerWriters(
      SteleClient client, AckLedger ledger, AtomicInteger next, int count, int valueBytes) {
    this.client = client;
    this.ledger = ledger;
    this.next = next;
    this.filler = "x".repeat(valueBytes);
    for (int i = 0; i < count; i++) {
      Thread thread = new Thread(this::run, "ledger-writer-" + i);
      thread.setUncaughtExceptionHandler((dead, e) -> faults.add(e));
      threads.add(thread);
    }
    threads.forEach(Thread::start);
  }

  private void run() {
    while (!ended) {
      int number = next.incrementAndGet();
      String key = String.format("%08x", Integer.reverse(number));
      String value = number + filler;
      ledger.sent(key, value);
      long begun = System.nanoTime();
      try {
        client.write(TABLE, Mutation.of(key).put("f", "q", value));
        ledger.acked(key);
        acked.incrementAndGet();
      } catch (SteleException e) {
        if (e.code() == ErrorCode.UNKNOWN_OUTCOME) {
          ledger.unknown(key);
        } else {
          ledger.failed(key);
        }
      }
      longestNanos.accumulateAndGet(System.nanoTime() - begun, Math::max);
    }
  }

  /** Writes that were acknowledged so far. */
  int acked() {
    return acked.get();
  }

  /** The longest that a write has taken, however it ended. */
  Duration longest() {
    return Duration.ofNanos(longestNanos.get());
  }

  /**
   * Has them end, and waits for it.
   *
   * @throws AssertionError if one of them does not end, or has failed otherwise than a write may
   */
  void end() {
    ended = true;
    for (Thread thread : threads) {
      try {
        thread.join(120_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
      if (thread.isAlive()) {
        throw new AssertionError(thread.getName() + " hangs");
      }
    }
    if (!faults.isEmpty()) {
      throw new AssertionError("a writer has failed", faults.get(0));
    }
  }

  @Override
  public void close() {
    end();
  }

  /** What the ledger finds wrong now. */
  static List<String> check(SteleClient client, AckLedger ledger) {
    return ledger.check(key -> client.lookup(TABLE, key).get("f", "q"));
  }
}
