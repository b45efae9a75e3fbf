package org.stele.client;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/** Operations whose caller does not wait, and what an application does when they are done. */
class AsyncOperationTest {
  private ClientFixture fixture;
  private FakeCluster cluster;
  private SteleClient client;
  private String table;

  @BeforeEach
  void start() throws Exception {
    fixture = new ClientFixture();
    cluster = fixture.cluster;
    client = fixture.client;
    table = cluster.createTable("t", List.of());
    client.write("t", Mutation.of("a").put("f", "q", "v"));
  }

  @AfterEach
  void stop() throws Exception {
    fixture.close();
  }

  private CompletableFuture<Row> lookup(String row) {
    return client.lookupAsync("t", Bytes.of(row));
  }

  @Test
  void futuresThatWaitForOtherFuturesAllEnd() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    List<CompletableFuture<String>> nested = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      nested.add(
          lookup("a")
              .thenApply(
                  first -> {
                    awaitQuietly(begun);
                    return lookup("a").join().get("f", "q");
                  }));
    }
    begun.countDown();
    for (CompletableFuture<String> one : nested) {
      assertEquals("v", one.get(10, TimeUnit.SECONDS));
    }
  }

  @Test
  void applicationThatBlocksItsFuturesStopsNoConnectionAndNoRetry() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    Thread caller = Thread.currentThread(); // runs what follows a future that is done already
    List<CompletableFuture<String>> blocked = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      blocked.add(
          lookup("a")
              .thenApply(
                  row -> {
                    if (Thread.currentThread() != caller) {
                      awaitQuietly(release);
                    }
                    return Thread.currentThread().getName();
                  }));
    }
    try {
      AtomicInteger writes = new AtomicInteger();
      cluster.fault =
          (server, method, request) ->
              method.equals("write") && writes.incrementAndGet() == 1
                  ? FakeCluster.Effect.BUSY
                  : FakeCluster.Effect.NONE;
      CompletableFuture<Void> write =
          client.writeAsync("t", Mutation.of("b").put("f", "q", "v")); // located and tried again
      await().until(() -> writes.get() == 2);
      assertEquals("v", client.lookup("t", "b").get("f", "q"));
      assertFalse(write.isDone());
    } finally {
      release.countDown();
    }
    for (CompletableFuture<String> one : blocked) {
      String thread = one.get(10, TimeUnit.SECONDS);
      assertTrue(
          thread.startsWith("stele-client-done-")
              || thread.equals(Thread.currentThread().getName()),
          thread);
    }
  }

  @Test
  void rowsThatAreReadByScansHoldUpNoOtherFuture() throws Exception {
    Mutation wide = Mutation.of("wide");
    for (int i = 0; i < 20; i++) {
      wide.put("f", "q" + i, "v");
    }
    cluster.load(table, wide);
    cluster.batchCells = 7;
    cluster.fault =
        (server, method, request) ->
            method.equals("scan") ? FakeCluster.Effect.SILENCE : FakeCluster.Effect.NONE;
    List<CompletableFuture<Row>> scanning = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      scanning.add(lookup("wide"));
    }
    assertEquals("v", lookup("a").get(10, TimeUnit.SECONDS).get("f", "q"));
    assertTrue(scanning.stream().noneMatch(CompletableFuture::isDone));
    cluster.fault = (server, method, request) -> FakeCluster.Effect.NONE;
    for (CompletableFuture<Row> one : scanning) {
      assertEquals(20, one.get(30, TimeUnit.SECONDS).cells().size());
    }
  }

  @Test
  void errorsOnTheWayEndTheFuture() throws Exception {
    try (ClientCore core =
        ClientCore.connect(cluster.connectString(), ClientOptions.defaults(), Clock.system())) {
      CompletableFuture<String> future =
          new AsyncOperation<String>(
                  core,
                  "test",
                  "t",
                  Bytes.of("a"),
                  false,
                  (location, tableId, limits, answer) -> {
                    throw new StackOverflowError("test");
                  })
              .start();
      SteleException failure =
          (SteleException)
              assertThrows(ExecutionException.class, () -> future.get(10, TimeUnit.SECONDS))
                  .getCause();
      assertEquals(ErrorCode.INTERNAL, failure.code());
      assertTrue(failure.getMessage().contains("test of row a of table t"), failure.getMessage());
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
