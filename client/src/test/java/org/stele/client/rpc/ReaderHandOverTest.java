package org.stele.client.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.stele.client.retry.AttemptException;
import org.stele.core.data.Bytes;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.Clock;

/**
 * Stress of the moments at which the reading and the writing role change hands: in each round a few
 * threads meet and make calls that end in different ways at about the same time (answered,
 * interrupted, out of time, answered to a listener), on one connection. Every answered call must
 * have its own answer, and no call may be forgotten: each ends long before the test's patience
 * does.
 */
class ReaderHandOverTest {
  private static final int ROUNDS = Boolean.getBoolean("stele.long") ? 20_000 : 1500;

  /** Holds calls whose payload begins with "-" back for ever, answers the others at once. */
  private static void handle(FakeServer.Request request) throws Exception {
    ServerService.ping_args arguments = request.arguments(new ServerService.ping_args());
    ByteBuffer payload = arguments.bufferForPayload();
    if (payload.get(payload.position()) != '-') {
      ServerService.ping_result result = new ServerService.ping_result();
      result.setSuccess(payload);
      request.reply(result);
    }
  }

  @Test
  void noCallIsForgottenOrGetsAnothersAnswer() throws Exception {
    int threads = 4;
    AtomicReference<Throwable> broken = new AtomicReference<>();
    AtomicInteger answered = new AtomicInteger();
    try (FakeServer server = new FakeServer("i", ReaderHandOverTest::handle);
        RpcClient client =
            new RpcClient(
                new RpcOptions(Duration.ofSeconds(5), 1, 1 << 20, "", 1),
                Clock.system(),
                () -> "i")) {
      CyclicBarrier meet = new CyclicBarrier(threads);
      List<Thread> callers = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int caller = t;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    Random random = new Random(caller);
                    for (int round = 0; round < ROUNDS && broken.get() == null; round++) {
                      meet.await(30, TimeUnit.SECONDS);
                      call(client, server.address(), caller + "/" + round, random, answered);
                    }
                  } catch (Exception | AssertionError e) {
                    broken.compareAndSet(null, e);
                  }
                },
                "caller-" + t);
        callers.add(thread);
        thread.start();
      }
      for (Thread thread : callers) {
        thread.join(TimeUnit.MINUTES.toMillis(2));
        assertTrue(!thread.isAlive(), "a caller hangs");
      }
      if (broken.get() != null) {
        throw new AssertionError("a call went wrong", broken.get());
      }
      assertEquals(0, server.faults());
      assertTrue(answered.get() > ROUNDS);
    }
  }

  private static void call(
      RpcClient client, String address, String payload, Random random, AtomicInteger answered)
      throws Exception {
    switch (random.nextInt(8)) {
      case 0 -> { // interrupted before or while it waits
        Thread.currentThread().interrupt();
        try {
          ping(client, address, "-" + payload, 20_000);
          throw new AssertionError("an answer to a call that got none");
        } catch (InterruptedException e) {
          // as it should be
        }
      }
      case 1 -> { // out of time; at times it is the one that reads
        try {
          ping(client, address, "-" + payload, 1 + random.nextInt(3));
          throw new AssertionError("an answer to a call that got none");
        } catch (AttemptException e) {
          // as it should be
        }
      }
      case 2 -> {
        CountDownLatch done = new CountDownLatch(1);
        AtomicReference<String> reply = new AtomicReference<>();
        client.callAsync(
            address,
            RpcFixture.PING,
            new ServerService.ping_args(Bytes.of(payload).toByteBuffer(), 0),
            within(20_000),
            new Answer<>() {
              @Override
              public void answered(ServerService.ping_result result) {
                reply.set(Bytes.of(result.bufferForSuccess()).toUtf8());
                done.countDown();
              }

              @Override
              public void failed(AttemptException failure) {
                reply.set(failure.getMessage());
                done.countDown();
              }
            });
        assertTrue(done.await(30, TimeUnit.SECONDS), "an asynchronous call was forgotten");
        countIfRight(payload, reply.get(), answered);
      }
      default -> {
        try {
          countIfRight(payload, ping(client, address, payload, 20_000), answered);
        } catch (AttemptException e) {
          // the connection was retired between choice and use by a call that ran out of time
          assertTrue(!e.isOutcomeUnknown(), e.getMessage());
        }
      }
    }
  }

  private static void countIfRight(String payload, String reply, AtomicInteger answered) {
    if (payload.equals(reply)) {
      answered.incrementAndGet();
    } else {
      assertTrue(reply.contains("closed before the call"), payload + " got " + reply);
    }
  }

  private static String ping(RpcClient client, String address, String payload, long millis)
      throws InterruptedException {
    return new ServerCalls(client).ping(address, Bytes.of(payload), 0, within(millis)).toUtf8();
  }

  private static CallLimits within(long millis) {
    return new CallLimits(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis), 1, 0);
  }
}
