package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.BatchWriterOptions;
import org.stele.client.FailedMutation;
import org.stele.client.MutationsFailedException;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.DataLimits;
import org.stele.core.data.LimitException;
import org.stele.core.data.Mutation;
import org.stele.core.error.SteleException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.file.FileStore;
import org.stele.test.check.TestForm;
import org.stele.test.process.StandaloneServer;

/**
 * Of the thousands of mutations of one writer every single one is accounted for: what flush and
 * close do not report is there, also after {@code kill -9}; what they report as failed is not; the
 * rest is of unknown outcome. However it comes about: the server is killed, the table is deleted,
 * writes of the log fail, tablets are not served, threads add while another closes.
 */
class PartialFailureIT {
  private static final int ROWS = TestForm.count(6_000, 20_000);
  private static final int TABLETS = 20;
  private static final Duration DEADLINE = Duration.ofSeconds(4);
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path directory;

  /** What became of each row, as its writer was told. */
  private static final class Account {
    final Set<String> added = ConcurrentHashMap.newKeySet();
    final Set<String> failed = ConcurrentHashMap.newKeySet();
    final Set<String> unknown = ConcurrentHashMap.newKeySet();

    void add(MutationsFailedException e) {
      for (FailedMutation failure : e.failures()) {
        String row = failure.mutation().row().toUtf8();
        Set<String> set = failure.isOutcomeUnknown() ? unknown : failed;
        assertTrue(added.contains(row), () -> row + " was never added");
        assertTrue(set.add(row), () -> row + " is reported twice");
      }
    }

    void compare(Set<String> there) {
      for (String row : added) {
        boolean reported = failed.contains(row) || unknown.contains(row);
        assertTrue(there.contains(row) || reported, () -> row + " is lost and not reported");
        assertFalse(
            there.contains(row) && failed.contains(row),
            () -> row + " is there, reported as failed");
      }
      assertTrue(added.containsAll(there), "rows that nobody has added");
    }
  }

  @Test
  void everyMutationIsAccountedFor() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.started(directory.resolve("data"), Map.of("wal.size", "1M"))) {
      try (SteleClient client = server.client()) {
        refusedForItsSize(client);
        deletedMeanwhile(client);
        for (int round = 0; round < TestForm.count(4, 50); round++) {
          closedWhileOthersAdd(client, "closed" + round);
        }
      }
      killedAndKeptDown(server);
    }
  }

  @Test
  void failedWritesOfTheLogAreAccountedFor() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = instance(store)) {
      Account account = new Account();
      try (SteleClient client = instance.client()) {
        client.tables().create("internal", tablets());
        BatchWriter writer = client.batchWriter("internal", options());
        for (int i = 0; i < 4; i++) {
          store.failAt(Operation.WRITE, "/data/", 2, new IOException("input/output error"));
          addAll(writer, account, i * ROWS / 4, (i + 1) * ROWS / 4);
          flush(writer, account);
        }
        store.heal();
        addAll(writer, account, ROWS, ROWS + 10);
        close(writer, account);
      }
      assertTrue(account.failed.size() + account.unknown.size() > 0, "nothing has failed");
      for (int restart = 0; restart < 2; restart++) {
        instance.kill();
        instance.start();
        try (SteleClient client = instance.client()) {
          account.compare(rows(client, "internal"));
        }
      }
    }
  }

  @Test
  void tabletsThatAreNotServedFailAlone() throws Exception {
    CrashableFileStore store = new CrashableFileStore();
    try (CrashableInstance instance = instance(store)) {
      try (SteleClient client = instance.client()) {
        client.tables().create("offline", tablets());
        Account before = new Account();
        BatchWriter writer = client.batchWriter("offline", options());
        addAll(writer, before, 0, ROWS);
        writer.close();
        client.tables().flush("offline");
      }
      instance.stop();
      List<String> files = filesOfTablets(store);
      List<String> damaged = List.of(files.get(3), files.get(17));
      for (String file : damaged) {
        store.flip(file, store.contents(file).length - 3, 0x20);
      }
      instance.start();
      Account account = new Account();
      try (SteleClient client = instance.client()) {
        BatchWriter writer = client.batchWriter("offline", options());
        for (int i = 0; i < ROWS; i++) {
          account.added.add(row(i));
          try {
            writer.add(Mutation.of(row(i)).put("f", AGAIN, "value"));
          } catch (MutationsFailedException e) {
            account.add(e);
            account.added.remove(row(i));
          }
        }
        close(writer, account);
      }
      assertEquals(Set.of(), account.unknown);
      assertTrue(
          !account.failed.isEmpty() && account.failed.size() <= 2 * ROWS / TABLETS,
          () -> account.failed.size() + " rows have failed");
      instance.stop();
      for (String file : damaged) {
        store.flip(file, store.contents(file).length - 3, 0x20);
      }
      instance.start();
      try (SteleClient client = instance.client()) {
        account.compare(rows(client, "offline", AGAIN));
        assertEquals(ROWS, rows(client, "offline", "q").size());
      }
    }
  }

  /** The qualifier of what is written when some tablets are not served. */
  private static final String AGAIN = "again";

  private CrashableInstance instance(CrashableFileStore store) throws Exception {
    Map<String, String> settings = Map.of("wal.size", "1M");
    return new CrashableInstance(directory.resolve("crashable"), store, settings).start();
  }

  /** The sorted files of the one table that has one for each tablet. */
  private static List<String> filesOfTablets(CrashableFileStore store) throws IOException {
    for (FileStore.Entry table : store.list("tables")) {
      String tableDirectory = "tables/" + table.name();
      List<String> files =
          store.list(tableDirectory).stream()
              .filter(file -> file.name().endsWith(".sf"))
              .map(file -> tableDirectory + "/" + file.name())
              .toList();
      if (files.size() == TABLETS) {
        return files;
      }
    }
    throw new AssertionError("no table has a file for each tablet");
  }

  private static TableOptions tablets() {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < TABLETS; i++) {
      splits.add(Bytes.of(row(i * ROWS / TABLETS)));
    }
    return TableOptions.defaults().withSplits(splits);
  }

  private static String row(int number) {
    return String.format("row %06d", number);
  }

  private static Mutation mutation(int number) {
    return Mutation.of(row(number)).put("f", "q", "value " + number);
  }

  private static BatchWriterOptions options() {
    return BatchWriterOptions.defaults().withDeadline(DEADLINE).withBufferBytes(256 << 10);
  }

  private static Set<String> rows(SteleClient client, String table) {
    return rows(client, table, "q");
  }

  private static Set<String> rows(SteleClient client, String table, String qualifier) {
    Set<String> rows = new HashSet<>();
    try (Scanner scanner = client.scanner(table).open()) {
      for (Cell cell : scanner) {
        if (cell.qualifier().toUtf8().equals(qualifier)) {
          rows.add(cell.row().toUtf8());
        }
      }
    }
    return rows;
  }

  private static void refusedForItsSize(SteleClient client) {
    client.tables().create("sizes", tablets());
    Bytes tooLarge = Bytes.wrap(new byte[DataLimits.MAX_VALUE_BYTES + 1]);
    try (BatchWriter writer = client.batchWriter("sizes", options())) {
      for (int i = 0; i < ROWS; i++) {
        if (i % 1000 == 17) {
          int number = i;
          assertThrows(
              LimitException.class,
              () ->
                  writer.add(Mutation.of(row(number)).put(Bytes.of("f"), Bytes.of("q"), tooLarge)));
        } else {
          writer.add(mutation(i));
        }
      }
    }
    assertEquals(ROWS - ROWS / 1000, rows(client, "sizes").size());
  }

  private static void deletedMeanwhile(SteleClient client) {
    client.tables().create("deleted", tablets());
    Account account = new Account();
    BatchWriter writer = client.batchWriter("deleted", options());
    addAll(writer, account, 0, ROWS / 2);
    flush(writer, account);
    assertEquals(Set.of(), account.failed);
    addAll(writer, account, ROWS / 2, ROWS);
    Set<String> there = rows(client, "deleted");
    client.tables().delete("deleted");
    // These may also be told of rows before them, whose writing the deletion overtook.
    addAll(writer, account, ROWS, ROWS + 10);
    Set<String> afterwards = new HashSet<>(account.added);
    afterwards.removeIf(row -> row.compareTo(row(ROWS)) < 0);
    long begun = System.nanoTime();
    close(writer, account);
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    assertTrue(took.compareTo(DEADLINE.plusSeconds(10)) < 0, () -> "close took " + took);
    there.retainAll(account.failed);
    assertEquals(Set.of(), there, "rows that were there are reported as failed");
    assertTrue(
        account.failed.containsAll(afterwards),
        () -> "of rows added after the table was deleted only these failed: " + account.failed);
    BatchWriter late = client.batchWriter("deleted", options());
    Account lateAccount = new Account();
    addAll(late, lateAccount, 0, 10);
    close(late, lateAccount);
    assertEquals(lateAccount.added, lateAccount.failed, "rows for a table that is not there");
    client.tables().create("deleted");
    assertEquals(Set.of(), rows(client, "deleted"), "rows of the table of the same name before");
    Account newAccount = new Account();
    BatchWriter again = client.batchWriter("deleted", options());
    addAll(again, newAccount, 0, 100);
    close(again, newAccount);
    assertEquals(newAccount.added, rows(client, "deleted"));
  }

  private static void addAll(BatchWriter writer, Account account, int from, int to) {
    for (int i = from; i < to; i++) {
      account.added.add(row(i));
      try {
        writer.add(mutation(i));
      } catch (MutationsFailedException e) {
        account.add(e); // tells of others; this one was not added
        account.added.remove(row(i));
      } catch (SteleException e) {
        account.added.remove(row(i)); // no room in time
      }
    }
  }

  private static void flush(BatchWriter writer, Account account) {
    try {
      writer.flush();
    } catch (MutationsFailedException e) {
      account.add(e);
    }
  }

  private static void close(BatchWriter writer, Account account) {
    try {
      writer.close();
    } catch (MutationsFailedException e) {
      account.add(e);
    }
  }

  private static void closedWhileOthersAdd(SteleClient client, String table) throws Exception {
    client.tables().create(table, tablets());
    Account account = new Account();
    BatchWriter writer = client.batchWriter(table, options());
    AtomicInteger next = new AtomicInteger();
    CountDownLatch many = new CountDownLatch(1_000);
    List<Throwable> faults = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread thread =
          new Thread(
              () -> {
                while (true) {
                  int number = next.incrementAndGet();
                  account.added.add(row(number));
                  try {
                    writer.add(mutation(number));
                    many.countDown();
                  } catch (IllegalStateException e) {
                    account.added.remove(row(number)); // it is closed
                    return;
                  }
                }
              },
              "adder-" + i);
      thread.setUncaughtExceptionHandler((dead, e) -> faults.add(e));
      thread.start();
      threads.add(thread);
    }
    many.await();
    writer.close();
    for (Thread thread : threads) {
      thread.join(LIMIT.toMillis());
      assertFalse(thread.isAlive(), () -> thread.getName() + " hangs");
    }
    assertEquals(List.of(), faults);
    assertEquals(account.added, rows(client, table));
    client.tables().delete(table);
  }

  private static void killedAndKeptDown(StandaloneServer server) throws Exception {
    Account account = new Account();
    try (SteleClient client = server.client()) {
      client.tables().create("killed", tablets());
      BatchWriter writer = client.batchWriter("killed", options());
      addAll(writer, account, 0, ROWS / 2);
      flush(writer, account);
      assertEquals(Set.of(), account.failed);
      Thread killer = new Thread(server::kill9, "killer");
      killer.start();
      addAll(writer, account, ROWS / 2, ROWS / 2 + 1_000);
      killer.join();
      for (int i = 0; i < 5; i++) {
        account.added.add(row(ROWS - 1 - i));
        writer.add(mutation(ROWS - 1 - i));
      }
      long begun = System.nanoTime();
      MutationsFailedException e = assertThrows(MutationsFailedException.class, writer::close);
      account.add(e);
      Duration took = Duration.ofNanos(System.nanoTime() - begun);
      assertTrue(took.compareTo(DEADLINE.plusSeconds(10)) < 0, () -> "close took " + took);
    }
    server.start().orFail();
    for (int restart = 0; restart < 2; restart++) {
      try (SteleClient client = server.client()) {
        account.compare(rows(client, "killed"));
      }
      if (restart == 0) {
        server.restartAfterKill();
      }
    }
  }
}
