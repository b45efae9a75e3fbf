package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.BatchWriterOptions;
import org.stele.client.ClientOptions;
import org.stele.client.FailedMutation;
import org.stele.client.MutationsFailedException;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.SteleException;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.process.StandaloneServer;

/**
 * Writers with buffers smaller than a mutation, as large, and a little larger; many threads add,
 * some flush, one closes. With a server that works everything gets there; with one that is stopped
 * or gone every call returns by its deadline. Each mutation is accounted for, and no thread is
 * left.
 */
class SmallBufferIT {
  private static final String TABLE = "small";
  private static final int MUTATION_BYTES = 200;
  private static final int ADDERS = TestForm.count(8, 32);
  private static final int FLUSHERS = 4;
  private static final int ADDS = 20;
  private static final int UNTIL_ONE_FAILS = 1_000_000;
  private static final int ROUNDS = TestForm.count(3, 100);
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** Beyond a deadline, on a machine that has other things to do. */
  private static final Duration GRACE = Duration.ofSeconds(8);

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** A byte, less than a mutation, one, a little more, many. */
  private static final long[] BUFFERS = {
    1, MUTATION_BYTES / 2, MUTATION_BYTES, MUTATION_BYTES + 1, 1 << 10, 64 << 10
  };

  @TempDir private Path directory;

  private final AtomicInteger writers = new AtomicInteger();

  @Test
  void noCallHangsAndNoMutationIsForgotten() throws Exception {
    // The server is stopped for a while, which its session is to survive.
    Map<String, String> settings = Map.of("zookeeper.session.timeout", "2m");
    try (StandaloneServer server = StandaloneServer.started(directory.resolve("data"), settings)) {
      try (SteleClient client = server.client()) {
        client.tables().create(TABLE);
      }
      List<Account> accounts = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        accounts.addAll(write(server, DEADLINE.multipliedBy(30), ADDS, () -> {}));
      }
      for (Account account : accounts) {
        assertEquals(Set.of(), account.failed);
        assertEquals(Set.of(), account.unknown);
      }
      long pid = server.pid();
      accounts.addAll(
          write(server, DEADLINE, UNTIL_ONE_FAILS, () -> StandaloneServer.signal(pid, "STOP")));
      StandaloneServer.signal(pid, "CONT");
      accounts.addAll(write(server, DEADLINE, UNTIL_ONE_FAILS, server::kill9));
      server.start().orFail();
      try (SteleClient client = server.client()) {
        compare(client, accounts);
      }
    }
    Conditions.await("no thread of a client is left", LIMIT, () -> clientThreads().isEmpty());
  }

  /** What became of the mutations of one writer. */
  private static final class Account {
    final Set<String> added = ConcurrentHashMap.newKeySet();
    final Set<String> failed = ConcurrentHashMap.newKeySet();
    final Set<String> unknown = ConcurrentHashMap.newKeySet();

    /** Add was interrupted by an error of others, or had no room: it was not taken. */
    final Set<String> notTaken = ConcurrentHashMap.newKeySet();

    void report(MutationsFailedException e) {
      for (FailedMutation failure : e.failures()) {
        String row = failure.mutation().row().toUtf8();
        assertTrue(
            (failure.isOutcomeUnknown() ? unknown : failed).add(row),
            () -> row + " reported twice");
      }
    }
  }

  /**
   * Writes with each size of buffer at once.
   *
   * @param adds of each thread, fewer if one fails
   */
  private List<Account> write(
      StandaloneServer server, Duration deadline, int adds, Runnable meanwhile) throws Exception {
    List<Account> accounts = new ArrayList<>();
    try (SteleClient client =
        SteleClient.connect(server.zookeeper(), ClientOptions.defaults().withDeadline(deadline))) {
      List<OneWriter> all = new ArrayList<>();
      for (long bufferBytes : BUFFERS) {
        OneWriter writer =
            new OneWriter(client, bufferBytes, deadline, adds, writers.getAndIncrement());
        all.add(writer);
        accounts.add(writer.account);
      }
      all.forEach(OneWriter::awaitFirstAcks);
      meanwhile.run();
      for (OneWriter writer : all) {
        writer.endAndCheck(deadline.plus(GRACE));
      }
    }
    return accounts;
  }

  /** A writer and the threads that use it. */
  private static final class OneWriter {
    private final BatchWriter writer;
    private final long bufferBytes;
    private final String prefix;
    private final Account account = new Account();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger flushes = new AtomicInteger();
    private final AtomicLong longestNanos = new AtomicLong();
    private final AtomicInteger adding = new AtomicInteger(ADDERS);

    OneWriter(SteleClient client, long bufferBytes, Duration deadline, int adds, int number) {
      this.bufferBytes = bufferBytes;
      this.prefix = "writer " + number + " ";
      this.writer =
          client.batchWriter(
              TABLE,
              BatchWriterOptions.defaults().withBufferBytes(bufferBytes).withDeadline(deadline));
      for (int i = 0; i < ADDERS; i++) {
        int adder = i;
        start("adder-" + i, () -> addAll(adder, adds));
      }
      for (int i = 0; i < FLUSHERS; i++) {
        start("flusher-" + i, this::flushAll);
      }
    }

    private void start(String name, Runnable action) {
      Thread thread = new Thread(action, name);
      thread.setUncaughtExceptionHandler((dead, e) -> faults.add(e));
      threads.add(thread);
      thread.start();
    }

    private void addAll(int adder, int adds) {
      boolean taken = true;
      for (int i = 0; i < adds && taken; i++) {
        String row = prefix + adder + "-" + i;
        // From half of the buffer and less to a hundred times it.
        int filler = i == 7 ? 100 * MUTATION_BYTES : MUTATION_BYTES / 2 << (i & 1);
        account.added.add(row);
        taken =
            timed(
                () -> writer.add(Mutation.of(row).put("f", "q", "x".repeat(filler))),
                () -> account.notTaken.add(row));
      }
      adding.decrementAndGet();
    }

    private void flushAll() {
      while (adding.get() > 0) {
        timed(writer::flush, () -> {});
        flushes.incrementAndGet();
      }
    }

    /** False: the call has failed. */
    private boolean timed(Runnable call, Runnable ifNot) {
      boolean done = false;
      long begun = System.nanoTime();
      try {
        call.run();
        done = true;
      } catch (MutationsFailedException e) {
        account.report(e);
        ifNot.run();
      } catch (SteleException e) {
        ifNot.run();
      }
      longestNanos.accumulateAndGet(System.nanoTime() - begun, Math::max);
      return done;
    }

    void awaitFirstAcks() {
      Conditions.await("flushes return", LIMIT, () -> flushes.get() > 0 || adding.get() == 0);
    }

    void endAndCheck(Duration limit) throws InterruptedException {
      for (Thread thread : threads) {
        thread.join(LIMIT.toMillis());
        assertFalse(thread.isAlive(), () -> thread.getName() + " hangs, buffer " + bufferBytes);
      }
      timed(writer::close, () -> {});
      assertEquals(List.of(), faults);
      Duration longest = Duration.ofNanos(longestNanos.get());
      assertTrue(
          longest.compareTo(limit) < 0,
          () -> "a call took " + longest + ", with a buffer of " + bufferBytes);
    }
  }

  private static void compare(SteleClient client, List<Account> accounts) {
    Set<String> there = new HashSet<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      for (Cell cell : scanner) {
        there.add(cell.row().toUtf8());
      }
    }
    for (Account account : accounts) {
      for (String row : account.added) {
        boolean missing = !there.contains(row);
        boolean told =
            account.failed.contains(row)
                || account.unknown.contains(row)
                || account.notTaken.contains(row);
        assertTrue(!missing || told, () -> row + " is lost and not reported");
        assertFalse(
            !missing && (account.failed.contains(row) || account.notTaken.contains(row)),
            () -> row + " is there, and was reported as not done");
      }
    }
  }

  private static List<String> clientThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("stele-client"))
        .toList();
  }
}
