package org.stele.client.rpc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.stele.client.rpc.RpcFixture.echo;
import static org.stele.client.rpc.RpcFixture.echoed;
import static org.stele.client.rpc.RpcFixture.ping;
import static org.stele.client.rpc.RpcFixture.pingAsync;
import static org.stele.client.rpc.RpcFixture.quietPing;
import static org.stele.client.rpc.RpcFixture.threadsNamed;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.client.retry.AttemptException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;

/** The shared connection against a server that is out to confuse it. */
class ConnectionTest {
  private final RpcFixture fixture = new RpcFixture();

  @AfterEach
  void closeAll() throws Exception {
    fixture.close();
  }

  /** Answers in random order, in pieces of random length, many replies together. */
  private final class Shuffler implements FakeServer.Handler {
    private final BlockingQueue<Object[]> replies = new LinkedBlockingQueue<>();

    Shuffler(int threads) {
      for (int i = 0; i < threads; i++) {
        Random random = new Random(i);
        Thread thread = new Thread(() -> run(random), "shuffler");
        thread.setDaemon(true);
        thread.start();
        fixture.closing(thread::interrupt);
      }
    }

    @Override
    public void handle(FakeServer.Request request) throws Exception {
      assertTrue(request.hasDeadline());
      assertEquals("tenant", request.header.tenant());
      replies.add(new Object[] {request.peer, request.replyFrame(echoed(request))});
    }

    private void run(Random random) {
      List<Object[]> held = new ArrayList<>();
      try {
        while (true) {
          held.add(replies.take());
          replies.drainTo(held);
          while (!held.isEmpty()) {
            Object[] one = held.remove(random.nextInt(held.size()));
            FakeServer.Peer peer = (FakeServer.Peer) one[0];
            synchronized (peer) { // pieces of one frame stay together
              byte[] frame = (byte[]) one[1];
              int cut = random.nextInt(4) == 0 ? random.nextInt(frame.length) : frame.length;
              peer.write(java.util.Arrays.copyOf(frame, cut));
              if (cut < frame.length) {
                peer.write(java.util.Arrays.copyOfRange(frame, cut, frame.length));
              }
            }
            replies.drainTo(held);
          }
        }
      } catch (Exception e) {
        // the test is over
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8, 64})
  void everyReplyGoesToItsCaller(int callers) throws Exception {
    FakeServer server = fixture.server(new Shuffler(2));
    RpcClient client = fixture.client(2);
    int calls = 120_000 / (callers + 30);
    AtomicInteger wrong = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    fixture.closing(threads::shutdownNow);
    List<Future<?>> done = new ArrayList<>();
    for (int t = 0; t < callers; t++) {
      int caller = t;
      done.add(
          threads.submit(
              () -> {
                Random random = new Random(caller);
                for (int i = 0; i < calls; i++) {
                  String payload =
                      caller + "/" + i + "x".repeat(random.nextInt(20) == 0 ? 9000 : i % 50);
                  if (!ping(client, server, payload, 60_000).equals(payload)) {
                    wrong.incrementAndGet();
                  }
                }
                return null;
              }));
    }
    for (Future<?> one : done) {
      one.get();
    }
    assertEquals(0, wrong.get());
    assertEquals(0, server.faults());
    assertTrue(server.accepted() <= 2, "connections: " + server.accepted());
  }

  @Test
  void synchronousAndAsynchronousCallsMix() throws Exception {
    FakeServer server = fixture.server(new Shuffler(2));
    RpcClient client = fixture.client(1);
    int calls = 3000;
    AtomicInteger wrong = new AtomicInteger();
    CountDownLatch answered = new CountDownLatch(4 * calls);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int caller = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < calls; i++) {
                    String payload = "async " + caller + "/" + i;
                    CompletableFuture<?> unused =
                        pingAsync(client, server, payload, 60_000)
                            .whenComplete(
                                (reply, failure) -> {
                                  if (!payload.equals(reply)) {
                                    wrong.incrementAndGet();
                                  }
                                  answered.countDown();
                                });
                    if (i % 3 == 0) {
                      String own = "sync " + caller + "/" + i;
                      if (!own.equals(ping(client, server, own, 60_000))) {
                        wrong.incrementAndGet();
                      }
                    }
                  }
                } catch (InterruptedException | RuntimeException e) {
                  wrong.incrementAndGet();
                }
              },
              "test-caller");
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertTrue(answered.await(60, TimeUnit.SECONDS), answered.getCount() + " are not answered");
    assertEquals(0, wrong.get());
  }

  @Test
  void loneCallerNeedsNoOtherThread() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    RpcClient client = fixture.client(2);
    for (int i = 0; i < 1000; i++) {
      assertEquals("p" + i, ping(client, server, "p" + i, 10_000));
    }
    assertEquals(List.of(), threadsNamed("stele-client-io-"));
    assertEquals(1, server.accepted());
  }

  @Test
  void largeRepliesAndCallsPass() throws Exception {
    FakeServer server = fixture.server(RpcFixture::echo);
    RpcClient client = fixture.client(1);
    for (int length : new int[] {1 << 16, (1 << 17) - 40, 1 << 17, 1 << 20, 3 << 20}) {
      String payload = "y".repeat(length);
      assertEquals(payload, ping(client, server, payload, 30_000));
    }
    assertEquals(
        ErrorCode.TOO_LARGE,
        assertThrows(
                AttemptException.class,
                () -> ping(client, server, "z".repeat(FakeServer.FRAME_MAX), 30_000))
            .code());
    assertEquals("still", ping(client, server, "still", 30_000));
    assertEquals(1, server.accepted());
  }

  @Test
  void theServerHasALittleLessTimeThanTheCaller() throws Exception {
    AtomicLong leftMillis = new AtomicLong();
    FakeServer server =
        fixture.server(
            request -> {
              leftMillis.set(request.leftNanos() / 1_000_000);
              echo(request);
            });
    RpcClient client = fixture.client(1);
    assertEquals("long", ping(client, server, "long", 30_000));
    assertTrue(leftMillis.get() <= 29_950, () -> leftMillis + " ms of 30 s");
    assertTrue(leftMillis.get() > 20_000, () -> leftMillis + " ms of 30 s");
    assertEquals("short", ping(client, server, "short", 240));
    assertTrue(leftMillis.get() <= 210, () -> leftMillis + " ms of 240 ms");
  }

  @Test
  void silentServerIsLeftAtTheDeadline() throws Exception {
    AtomicInteger silent = new AtomicInteger(1);
    FakeServer server =
        fixture.server(
            request -> {
              if (silent.getAndDecrement() <= 0) {
                echo(request);
              }
            });
    RpcClient client = fixture.client(1);
    long start = System.nanoTime();
    AttemptException failure =
        assertThrows(AttemptException.class, () -> ping(client, server, "lost", 300));
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertEquals(ErrorCode.DEADLINE_EXCEEDED, failure.code());
    assertTrue(failure.isOutcomeUnknown());
    assertTrue(millis >= 295 && millis < 2000, millis + " ms");
    assertEquals("next", ping(client, server, "next", 10_000));
    assertEquals(2, server.accepted(), "the connection was not to be used again");
    await().until(() -> server.openConnections() == 1);
  }

  @Test
  void lateReplyIsDroppedAndOtherCallsOfTheConnectionEndWell() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(kept::add);
    RpcClient client = fixture.client(1);
    Future<String> slow = CompletableFuture.supplyAsync(() -> quietPing(client, server, "slow"));
    FakeServer.Request slowRequest = kept.take();
    assertThrows(AttemptException.class, () -> ping(client, server, "late", 200));
    echo(kept.take()); // late
    echo(slowRequest);
    assertEquals("slow", slow.get(10, TimeUnit.SECONDS));
    release.countDown();
    await().until(() -> server.openConnections() == 0);
  }

  @Test
  void connectionOnWhichACallTimedOutTakesNoOther() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(kept::add);
    RpcClient client = fixture.client(1);
    CompletableFuture<String> slow = pingAsync(client, server, "slow", 30_000);
    FakeServer.Request slowRequest = kept.take();
    assertThrows(AttemptException.class, () -> ping(client, server, "late", 200));
    FakeServer.Request late = kept.take();
    assertSame(slowRequest.peer, late.peer);

    CompletableFuture<String> next = pingAsync(client, server, "next", 30_000);
    FakeServer.Request nextRequest = kept.take();
    assertNotSame(late.peer, nextRequest.peer, "a new call on the connection that timed out");
    byte[] nextReply = nextRequest.replyFrame(echoed(nextRequest));
    late.peer.write(nextReply); // by the wrong connection
    await().until(() -> server.openConnections() == 1);
    assertFalse(next.isDone(), "a reply was taken from another connection");
    await().until(slow::isCompletedExceptionally);
    nextRequest.peer.write(nextReply);
    assertEquals("next", next.get(10, TimeUnit.SECONDS));
    assertEquals(2, server.accepted());
  }

  @Test
  void oneBytePerWhileDoesNotMoveTheDeadline() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    FakeServer server =
        fixture.server(
            request -> {
              for (byte b : request.replyFrame(echoed(request))) {
                request.peer.write(new byte[] {b});
                if (over.await(100, TimeUnit.MILLISECONDS)) {
                  return;
                }
              }
            });
    RpcClient client = fixture.client(1);
    long start = System.nanoTime();
    assertThrows(AttemptException.class, () -> ping(client, server, "slow", 500));
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(2));
    over.countDown();
  }

  @Test
  void interruptEndsTheCallAndNothingElse() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(kept::add);
    RpcClient client = fixture.client(1);
    for (boolean reads : new boolean[] {true, false}) {
      CompletableFuture<String> other = null;
      if (!reads) {
        other = CompletableFuture.supplyAsync(() -> quietPing(client, server, "other"));
        await().until(() -> !kept.isEmpty());
      }
      CompletableFuture<Throwable> outcome = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                try {
                  ping(client, server, "interrupted", 300_000);
                  outcome.complete(new AssertionError("an answer"));
                } catch (InterruptedException | RuntimeException e) {
                  outcome.complete(e);
                }
              },
              "test-caller");
      caller.start();
      int before = reads ? 1 : 2;
      await().until(() -> kept.size() == before);
      long start = System.nanoTime();
      caller.interrupt();
      assertEquals(InterruptedException.class, outcome.get(10, TimeUnit.SECONDS).getClass());
      assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(1));
      while (!kept.isEmpty()) {
        echo(kept.take()); // that of the interrupted call has nobody to go to
      }
      if (other != null) {
        assertEquals("other", other.get(10, TimeUnit.SECONDS));
      }
    }
    CompletableFuture<String> after =
        CompletableFuture.supplyAsync(() -> quietPing(client, server, "after"));
    echo(kept.take());
    assertEquals("after", after.get(10, TimeUnit.SECONDS));
    assertEquals(1, server.accepted());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 0x80000000, 29, (4 << 20) + 1, 0x7fffffff, 0x48545450, 0x16030100})
  void impossibleLengthsBreakTheConnection(int length) throws Exception {
    AtomicInteger bad = new AtomicInteger(1);
    FakeServer server =
        fixture.server(
            request -> {
              if (bad.getAndDecrement() > 0) {
                request.peer.write(ByteBuffer.allocate(8).putInt(length).array());
              } else {
                echo(request);
              }
            });
    RpcClient client = fixture.client(1);
    AttemptException failure =
        assertThrows(AttemptException.class, () -> ping(client, server, "a", 10_000));
    assertEquals(ErrorCode.UNAVAILABLE, failure.code());
    assertTrue(failure.isOutcomeUnknown() && failure.isRetryable());
    assertEquals("b", ping(client, server, "b", 10_000));
    assertEquals(2, server.accepted());
  }

  @Test
  void answersToCallsNeverMadeAndOtherNonsenseBreakTheConnection() throws Exception {
    AtomicInteger count = new AtomicInteger();
    FakeServer server =
        fixture.server(
            request -> {
              byte[] frame = request.replyFrame(echoed(request));
              switch (count.getAndIncrement()) {
                case 0 -> frame[4 + 6] ^= 0x10; // call id
                case 1 -> frame[4] = (byte) 0x82; // no header
                case 2 -> frame[4 + 1] = 9; // version
                case 3 -> frame[4 + 30] = 0; // Thrift's protocol id
                case 4 -> frame[4 + 14] ^= 1; // boot id
                default -> {
                  // as it should be
                }
              }
              request.peer.write(frame);
            });
    RpcClient client = fixture.client(1);
    for (int i = 0; i < 5; i++) {
      assertEquals(
          ErrorCode.UNAVAILABLE,
          assertThrows(AttemptException.class, () -> ping(client, server, "a", 5_000)).code());
    }
    assertEquals("b", ping(client, server, "b", 10_000));
    assertEquals(6, server.accepted());
    await().until(() -> server.openConnections() == 1);
  }

  @Test
  void lostConnectionFailsAllItsCallsAtOnce() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = fixture.server(kept::add);
    RpcClient client = fixture.client(1);
    List<CompletableFuture<String>> calls = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      calls.add(CompletableFuture.supplyAsync(() -> quietPing(client, server, "a")));
      calls.add(pingAsync(client, server, "b", 60_000));
    }
    await().until(() -> kept.size() >= 5); // the common pool may be small
    server.closeConnections();
    await().until(() -> calls.stream().filter(CompletableFuture::isDone).count() >= 5);
    calls.stream()
        .filter(CompletableFuture::isDone)
        .forEach(call -> assertTrue(call.isCompletedExceptionally()));
    client.close();
    await().until(() -> calls.stream().allMatch(CompletableFuture::isCompletedExceptionally));
  }

  @Test
  void refusalsCarryCodeAndProposedWait() {
    FakeServer server = fixture.server(request -> request.refuse(SteleException.busy("full", 77)));
    RpcClient client = fixture.client(1);
    AttemptException failure =
        assertThrows(AttemptException.class, () -> ping(client, server, "a", 5_000));
    assertEquals(ErrorCode.BUSY, failure.code());
    assertEquals(77, failure.reply().retryAfterMillis());
  }

  @Test
  void stoppedReaderOnTheOtherSideBlocksNobodyBeyondTheDeadline() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    FakeServer server =
        fixture.server(request -> over.await()); // does not read on: the socket's buffers fill up
    RpcClient client = fixture.client(1);
    String payload = "w".repeat(2 << 20);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    fixture.closing(threads::shutdownNow);
    List<Future<?>> calls = new ArrayList<>();
    long start = System.nanoTime();
    for (int i = 0; i < 8; i++) {
      calls.add(
          threads.submit(
              () ->
                  assertThrows(AttemptException.class, () -> ping(client, server, payload, 1000))));
    }
    for (Future<?> call : calls) {
      call.get(20, TimeUnit.SECONDS);
    }
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(5));
    over.countDown();
  }
}
