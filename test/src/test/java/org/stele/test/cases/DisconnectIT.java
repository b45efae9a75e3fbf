package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.SteleClient;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.check.TestForm;
import org.stele.test.net.CompactCall;
import org.stele.test.net.CompactReply;
import org.stele.test.net.RawSocket;
import org.stele.test.process.StandaloneServer;

/**
 * Connections that end at every awkward moment, by a reset, a close, or with one half only. No
 * selector dies of it and no socket stays behind.
 */
class DisconnectIT extends ForServerKinds {
  private static final int THREADS = TestForm.count(8, 32);
  private static final int CONNECTIONS = TestForm.count(2_000, 50_000);
  private static final int FRESH = TestForm.count(64, 256);
  private static final Duration LIMIT = TestForm.generous(Duration.ofSeconds(5));
  private static final String CLOSE_WAIT = "08";

  @TempDir private Path directory;

  @Test
  void everyAwkwardMoment() throws Exception {
    try (StandaloneServer server =
            StandaloneServer.started(
                directory, Map.of("rpc.selectors", "4", "rpc.workers.idle.timeout", "1s"));
        SteleClient client = server.client()) {
      int port = server.port();
      long pid = server.pid();
      VainScans.of(client, port);
      byte[] scan = CompactCall.scan(client.tables().describe("large").id());
      long seed = Long.getLong("stele.seed", new Random().nextLong());
      String what = "seed " + seed;
      cutConnections(
          port,
          scan,
          new Random(seed),
          kind.fewer(CONNECTIONS) / 10); // until all threads are there
      ProcessGauges before = quiet(client, server.address(), pid);
      cutConnections(port, scan, new Random(seed + 1), kind.fewer(CONNECTIONS));
      for (int i = 0; i < FRESH; i++) {
        long begin = System.nanoTime();
        try (RawSocket socket = RawSocket.connect(port)) {
          byte[] answer = socket.call(CompactCall.ping(new byte[8], 8), LIMIT);
          assertEquals(CompactReply.Kind.RESULT, CompactReply.of(answer).kind());
        }
        assertTrue(
            System.nanoTime() - begin < TestForm.generous(Duration.ofSeconds(1)).toNanos(), what);
      }
      Conditions.await(
          "no connection is left in CLOSE_WAIT; " + what,
          TestForm.generous(Duration.ofSeconds(10)),
          () -> ProcessGauges.connections(port, CLOSE_WAIT) == 0);
      AtomicReference<ProcessGauges> now = new AtomicReference<>(before);
      try {
        Conditions.await(
            "descriptors and threads are back; " + what,
            TestForm.generous(Duration.ofSeconds(10)),
            () -> {
              now.set(ProcessGauges.of(pid));
              return now.get().descriptors() <= before.descriptors() + 5
                  && now.get().threads() <= before.threads() + 5;
            });
      } catch (AssertionError e) {
        throw new AssertionError(e.getMessage() + ": " + before + " became " + now, e);
      }
      Map<String, Long> counters = client.servers().status(server.address()).counters();
      assertEquals(0L, counters.get("rpc.loop.failures"), what);
    }
  }

  /** What the process holds when only this client is connected. */
  private static ProcessGauges quiet(SteleClient client, String address, long pid) {
    Conditions.await(
        "connections and workers are gone",
        TestForm.generous(Duration.ofSeconds(10)),
        () -> {
          Map<String, Long> counters = client.servers().status(address).counters();
          return counters.get("rpc.connections") < 10 && counters.get("rpc.workers") <= 1;
        });
    return ProcessGauges.of(pid);
  }

  private static void cutConnections(int port, byte[] scan, Random random, int count)
      throws InterruptedException {
    ExecutorService threads =
        Executors.newFixedThreadPool(THREADS, task -> new Thread(task, "cutter"));
    try {
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Random own = new Random(random.nextLong());
        results.add(
            threads.submit(
                () -> {
                  for (int j = 0; j < count / THREADS; j++) {
                    cutOne(port, scan, own);
                  }
                  return null;
                }));
      }
      for (Future<?> result : results) {
        result.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause().toString(), e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private static void cutOne(int port, byte[] scan, Random random) throws IOException {
    byte[] ping = RawSocket.frame(CompactCall.ping(new byte[200], 100));
    try (RawSocket socket = RawSocket.connect(port)) {
      switch (random.nextInt(8)) {
        case 0 -> socket.reset();
        case 1 -> {
          socket.send(Arrays.copyOf(ping, 1 + random.nextInt(3)));
          end(socket, random);
        }
        case 2 -> {
          socket.send(Arrays.copyOf(ping, 4 + random.nextInt(ping.length - 4)));
          end(socket, random);
        }
        case 3 -> {
          socket.send(ping);
          end(socket, random);
        }
        case 4 -> {
          socket.sendFrame(scan);
          end(socket, random);
        }
        case 5 -> {
          socket.sendFrame(scan).readExactly(100, LIMIT);
          end(socket, random);
        }
        case 6 -> {
          socket.send(ping);
          socket.shutdownOutput();
          assertAnswerOrEnd(socket);
        }
        default -> {
          socket.sendFrame(scan);
          socket.shutdownOutput();
          assertAnswerOrEnd(socket);
        }
      }
    }
  }

  private static void end(RawSocket socket, Random random) throws IOException {
    if (random.nextBoolean()) {
      socket.reset();
    } else {
      socket.close();
    }
  }

  /** Who only ended his own direction gets his answer, and then the end; silence is wrong. */
  private static void assertAnswerOrEnd(RawSocket socket) throws IOException {
    try {
      assertEquals(CompactReply.Kind.RESULT, CompactReply.of(socket.readFrame(LIMIT)).kind());
    } catch (EOFException | SocketException e) {
      // An end, which is allowed.
      socket.close();
      return;
    }
    assertTrue(socket.isEndedWithin(LIMIT), "a half-closed connection stays open");
  }
}
