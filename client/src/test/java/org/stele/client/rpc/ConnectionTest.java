package org.stele.client.rpc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
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
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.Clock;

/** The shared connection against a server that is out to confuse it. */
class ConnectionTest {
  private static final String INSTANCE = "instance-1";
  private static final Method<ServerService.ping_args, ServerService.ping_result> PING =
      Method.ofStructures("ping", ServerService.ping_result::new);

  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
    await().until(() -> threadsNamed("stele-client-").isEmpty());
  }

  private static List<String> threadsNamed(String prefix) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith(prefix))
        .toList();
  }

  private FakeServer server(FakeServer.Handler handler) {
    FakeServer server = new FakeServer(INSTANCE, handler);
    opened.add(0, server);
    return server;
  }

  private RpcClient client(int connections) {
    RpcClient client =
        new RpcClient(
            new RpcOptions(Duration.ofSeconds(2), connections, 4 << 20, "tenant", 42),
            Clock.system(),
            () -> INSTANCE);
    opened.add(0, client);
    return client;
  }

  private static CallLimits within(long millis) {
    return new CallLimits(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis), 1, 0);
  }

  private static String ping(RpcClient client, FakeServer server, String payload, long millis)
      throws InterruptedException {
    return new ServerCalls(client)
        .ping(server.address(), Bytes.of(payload), 0, within(millis))
        .toUtf8();
  }

  private static void echo(FakeServer.Request request) throws Exception {
    request.reply(echoed(request));
  }

  private static ServerService.ping_result echoed(FakeServer.Request request) throws Exception {
    ServerService.ping_args arguments = request.arguments(new ServerService.ping_args());
    ServerService.ping_result result = new ServerService.ping_result();
    result.setSuccess(arguments.bufferForPayload());
    return result;
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
        opened.add(thread::interrupt);
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
    FakeServer server = server(new Shuffler(2));
    RpcClient client = client(2);
    int calls = 120_000 / (callers + 30);
    AtomicInteger wrong = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(callers);
    opened.add(threads::shutdownNow);
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
    FakeServer server = server(new Shuffler(2));
    RpcClient client = client(1);
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

  private static CompletableFuture<String> pingAsync(
      RpcClient client, FakeServer server, String payload, long millis) {
    CompletableFuture<String> reply = new CompletableFuture<>();
    client.callAsync(
        server.address(),
        PING,
        new ServerService.ping_args(ByteBuffer.wrap(Bytes.of(payload).toArray()), 0),
        within(millis),
        new Answer<>() {
          @Override
          public void answered(ServerService.ping_result result) {
            reply.complete(Bytes.of(result.bufferForSuccess()).toUtf8());
          }

          @Override
          public void failed(AttemptException failure) {
            reply.completeExceptionally(failure);
          }
        });
    return reply;
  }

  @Test
  void loneCallerNeedsNoOtherThread() throws Exception {
    FakeServer server = server(ConnectionTest::echo);
    RpcClient client = client(2);
    for (int i = 0; i < 1000; i++) {
      assertEquals("p" + i, ping(client, server, "p" + i, 10_000));
    }
    assertEquals(List.of(), threadsNamed("stele-client-io-"));
    assertEquals(1, server.accepted());
  }

  @Test
  void largeRepliesAndCallsPass() throws Exception {
    FakeServer server = server(ConnectionTest::echo);
    RpcClient client = client(1);
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
        server(
            request -> {
              leftMillis.set(request.leftNanos() / 1_000_000);
              echo(request);
            });
    RpcClient client = client(1);
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
        server(
            request -> {
              if (silent.getAndDecrement() <= 0) {
                echo(request);
              }
            });
    RpcClient client = client(1);
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
    FakeServer server = server(kept::add);
    RpcClient client = client(1);
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
    FakeServer server = server(kept::add);
    RpcClient client = client(1);
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
  void namesAreResolvedAnewForEachConnection() throws Exception {
    FakeServer before = server(ConnectionTest::echo);
    InetAddress second = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
    AtomicReference<InetAddress> address =
        new AtomicReference<>(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    AtomicInteger asked = new AtomicInteger();
    RpcClient client =
        new RpcClient(
            new RpcOptions(Duration.ofSeconds(2), 1, 4 << 20, "", 42),
            Clock.system(),
            host -> {
              assertEquals("tablets.example", host);
              asked.incrementAndGet();
              return address.get();
            },
            () -> INSTANCE);
    opened.add(0, client);
    ServerCalls calls = new ServerCalls(client);
    String name = "tablets.example:" + before.port();
    assertEquals(Bytes.of("a"), calls.ping(name, Bytes.of("a"), 0, within(5_000)));
    assertEquals(Bytes.of("b"), calls.ping(name, Bytes.of("b"), 0, within(5_000)));
    assertEquals(1, asked.get());

    before.close();
    await().until(() -> before.openConnections() == 0);
    FakeServer after = new FakeServer(INSTANCE, second, before.port(), ConnectionTest::echo);
    opened.add(after);
    assertThrows(AttemptException.class, () -> calls.ping(name, Bytes.of("c"), 0, within(5_000)));
    address.set(second);
    assertEquals(Bytes.of("d"), calls.ping(name, Bytes.of("d"), 0, within(5_000)));
    assertEquals(1, after.accepted());
    assertEquals(2, asked.get());
  }

  @Test
  void connectionMadeWhileTheClientIsClosedIsClosed() throws Exception {
    FakeServer server = server(ConnectionTest::echo);
    CountDownLatch resolving = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    RpcClient client =
        new RpcClient(
            new RpcOptions(Duration.ofSeconds(5), 1, 4 << 20, "", 42),
            Clock.system(),
            host -> {
              resolving.countDown();
              awaitQuietly(closed);
              return InetAddress.getLoopbackAddress();
            },
            () -> INSTANCE);
    opened.add(0, client);
    CompletableFuture<String> call =
        CompletableFuture.supplyAsync(() -> quietPing(client, server, "a"));
    assertTrue(resolving.await(10, TimeUnit.SECONDS));
    client.close();
    closed.countDown();
    await().until(call::isCompletedExceptionally);
    await().until(() -> server.openConnections() == 0);
    assertThrows(AttemptException.class, () -> ping(client, server, "b", 5_000));
    FakeServer other = server(ConnectionTest::echo);
    assertThrows(AttemptException.class, () -> ping(client, other, "b", 5_000));
    assertEquals(0, other.accepted());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static String quietPing(RpcClient client, FakeServer server, String payload) {
    try {
      return ping(client, server, payload, 30_000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void oneBytePerWhileDoesNotMoveTheDeadline() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    FakeServer server =
        server(
            request -> {
              for (byte b : request.replyFrame(echoed(request))) {
                request.peer.write(new byte[] {b});
                if (over.await(100, TimeUnit.MILLISECONDS)) {
                  return;
                }
              }
            });
    RpcClient client = client(1);
    long start = System.nanoTime();
    assertThrows(AttemptException.class, () -> ping(client, server, "slow", 500));
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(2));
    over.countDown();
  }

  @Test
  void asynchronousCallsEndAtTheirDeadline() {
    FakeServer server = server(request -> {});
    RpcClient client = client(1);
    long start = System.nanoTime();
    CompletableFuture<String> longer = pingAsync(client, server, "b", 30_000);
    CompletableFuture<String> shorter = pingAsync(client, server, "a", 200);
    await().atMost(Duration.ofSeconds(5)).until(shorter::isDone);
    assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(190));
    assertTrue(shorter.isCompletedExceptionally());
    assertFalse(longer.isDone());
    client.close();
    await().atMost(Duration.ofSeconds(5)).until(longer::isCompletedExceptionally);
  }

  @Test
  void interruptEndsTheCallAndNothingElse() throws Exception {
    BlockingQueue<FakeServer.Request> kept = new LinkedBlockingQueue<>();
    FakeServer server = server(kept::add);
    RpcClient client = client(1);
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
        server(
            request -> {
              if (bad.getAndDecrement() > 0) {
                request.peer.write(ByteBuffer.allocate(8).putInt(length).array());
              } else {
                echo(request);
              }
            });
    RpcClient client = client(1);
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
        server(
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
    RpcClient client = client(1);
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
    FakeServer server = server(kept::add);
    RpcClient client = client(1);
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
  void idleConnectionClosedByTheServerIsReplacedWithoutAFailure() throws Exception {
    FakeServer server = server(ConnectionTest::echo);
    MovedClock clock = new MovedClock();
    RpcClient client =
        new RpcClient(
            new RpcOptions(Duration.ofSeconds(2), 1, 4 << 20, "", 42), clock, () -> INSTANCE);
    opened.add(0, client);
    ServerCalls calls = new ServerCalls(client);
    for (int i = 0; i < 3; i++) {
      CallLimits limits = new CallLimits(clock.nanos() + TimeUnit.SECONDS.toNanos(5), 1, 0);
      assertEquals(Bytes.of("a"), calls.ping(server.address(), Bytes.of("a"), 0, limits));
      server.closeConnections();
      await().until(() -> server.openConnections() == 0);
      clock.move(Duration.ofSeconds(2));
    }
    assertEquals(3, server.accepted());
  }

  /** The system's clock, moved forward by hand. */
  private static final class MovedClock implements Clock {
    private final AtomicLong moved = new AtomicLong();

    void move(Duration duration) {
      moved.addAndGet(duration.toNanos());
    }

    @Override
    public long wallMillis() {
      return System.currentTimeMillis();
    }

    @Override
    public long nanos() {
      return System.nanoTime() + moved.get();
    }
  }

  @Test
  void socketsOfFailedSetUpsAreClosed() throws Exception {
    FakeServer refusing = server(ConnectionTest::echo);
    refusing.refuse(true);
    RpcClient client = client(1);
    for (int i = 0; i < 500; i++) {
      AttemptException failure =
          assertThrows(AttemptException.class, () -> ping(client, refusing, "a", 5_000));
      assertFalse(failure.isOutcomeUnknown());
    }
    FakeServer silent = server(ConnectionTest::echo);
    silent.ignoreGreetings(1000);
    long start = System.nanoTime();
    assertThrows(AttemptException.class, () -> ping(client, silent, "a", 300));
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(2));
    await().until(() -> silent.openConnections() == 0 && refusing.openConnections() == 0);
  }

  @Test
  void callerWithoutTimeDoesNotFailThoseWhoWaitForTheSameConnection() throws Exception {
    FakeServer server = server(ConnectionTest::echo);
    server.ignoreGreetings(1);
    RpcClient client = client(1);
    CompletableFuture<Throwable> hasty = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () ->
                hasty.complete(
                    assertThrows(AttemptException.class, () -> ping(client, server, "hasty", 400))),
            "test-caller");
    caller.start();
    await().until(() -> server.accepted() == 1);
    assertEquals("patient", ping(client, server, "patient", 10_000));
    assertEquals(
        ErrorCode.UNAVAILABLE, ((AttemptException) hasty.get(10, TimeUnit.SECONDS)).code());
    assertEquals(2, server.accepted());
  }

  @Test
  void unknownNamesAndDeadPortsFailInTime() {
    RpcClient client = client(1);
    ServerCalls calls = new ServerCalls(client);
    for (String address : List.of("no-such-host.invalid:1", "127.0.0.1:1", "nonsense")) {
      long start = System.nanoTime();
      AttemptException failure =
          assertThrows(
              AttemptException.class, () -> calls.ping(address, Bytes.of("a"), 0, within(1000)));
      assertFalse(failure.isOutcomeUnknown());
      assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(3));
    }
  }

  @Test
  void refusalsCarryCodeAndProposedWait() {
    FakeServer server = server(request -> request.refuse(SteleException.busy("full", 77)));
    RpcClient client = client(1);
    AttemptException failure =
        assertThrows(AttemptException.class, () -> ping(client, server, "a", 5_000));
    assertEquals(ErrorCode.BUSY, failure.code());
    assertEquals(77, failure.reply().retryAfterMillis());
  }

  @Test
  void stoppedReaderOnTheOtherSideBlocksNobodyBeyondTheDeadline() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    FakeServer server =
        server(request -> over.await()); // does not read on: the socket's buffers fill up
    RpcClient client = client(1);
    String payload = "w".repeat(2 << 20);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    opened.add(threads::shutdownNow);
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
