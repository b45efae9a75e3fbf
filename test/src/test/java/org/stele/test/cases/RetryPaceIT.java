package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.ClientOptions;
import org.stele.client.SteleClient;
import org.stele.client.retry.RetryOptions;
import org.stele.core.data.Mutation;
import org.stele.core.data.Row;
import org.stele.test.check.Conditions;
import org.stele.test.check.TestForm;
import org.stele.test.net.Proxy;
import org.stele.test.process.Serving;
import org.stele.test.process.Signpost;
import org.stele.test.process.StandaloneServer;

/**
 * Clients whose server closes every connection at once: they come back at growing distances up to
 * the cap, not all at the same times, and succeed soon after the server serves.
 */
class RetryPaceIT extends ForServerKinds {
  private static final int CLIENTS = TestForm.count(8, 50);
  private static final int ATTEMPTS = TestForm.count(15, 400);
  private static final Duration BASE = Duration.ofMillis(2);
  private static final Duration CAP = Duration.ofMillis(200);

  @TempDir private Path directory;

  @Test
  void clientsComeBackAtAMeasuredPace() throws Exception {
    ClientOptions options =
        Serving.current()
            .clientOptions()
            .withDeadline(Duration.ofMinutes(10))
            .withRetry(
                RetryOptions.defaults().withWaits(BASE, CAP).withBudget(10, 1_000_000, 100_000));
    ExecutorService callers =
        Executors.newFixedThreadPool(CLIENTS, task -> new Thread(task, "caller"));
    List<AutoCloseable> opened = new ArrayList<>();
    try (StandaloneServer server = StandaloneServer.started(directory.resolve("data"), Map.of());
        Signpost signpost = new Signpost(Files.createDirectory(directory.resolve("zookeeper")))) {
      String instance = write(server);
      List<Visits> all = new ArrayList<>();
      List<Future<Row>> answers = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Visits visits = new Visits(server.port());
        opened.add(visits.proxy);
        all.add(visits);
        SteleClient client =
            SteleClient.connect(
                signpost.instance("/client" + i, instance, "127.0.0.1:" + visits.proxy.port()),
                options);
        opened.add(client);
        answers.add(callers.submit(() -> client.lookup("people", "ada")));
      }
      Conditions.await(
          ATTEMPTS + " attempts of each client",
          TestForm.generous(CAP.multipliedBy(ATTEMPTS + 20L)),
          () -> all.stream().allMatch(visits -> visits.proxy.accepted() >= ATTEMPTS));
      all.forEach(visits -> visits.proxy.refuse(false));
      long served = System.nanoTime();
      Duration limit = TestForm.generous(CAP.plusSeconds(1));
      for (Future<Row> answer : answers) {
        Row row = answer.get(limit.toNanos() - (System.nanoTime() - served), TimeUnit.NANOSECONDS);
        assertEquals("Lovelace", row.get("name", "last"));
      }
      checkPace(all);
    } finally {
      callers.shutdownNow();
      for (AutoCloseable each : opened) {
        each.close();
      }
    }
  }

  private static String write(StandaloneServer server) {
    try (SteleClient client = server.client()) {
      client.tables().create("people");
      client.write("people", Mutation.of("ada").put("name", "last", "Lovelace"));
      return client.instanceId();
    }
  }

  private static void checkPace(List<Visits> all) {
    Set<Long> lateGaps = new TreeSet<>();
    double late = 0;
    double early = 0;
    for (Visits visits : all) {
      List<Long> gaps = visits.gaps();
      for (long gap : gaps) {
        assertTrue(gap >= BASE.toNanos(), () -> "attempts within " + gap + " ns of each other");
      }
      List<Long> capped = gaps.subList(ATTEMPTS - 6, ATTEMPTS - 1);
      // Shorter than drawn they cannot be; longer they can, on a machine that does other things.
      early += gaps.get(0) + gaps.get(1);
      late += capped.get(0) + capped.get(1);
      capped.forEach(gap -> lateGaps.add(gap / 5_000_000));
      long shortest = gaps.stream().skip(10).mapToLong(gap -> gap).min().orElseThrow();
      assertTrue(
          shortest < CAP.toNanos() * 5 / 4, () -> "all waits are above the cap: " + shortest);
    }
    double growth = late / early;
    assertTrue(growth > 2, () -> "waits do not grow: factor " + growth);
    assertTrue(lateGaps.size() > CLIENTS / 2, () -> "waits do not differ: " + lateGaps);
  }

  /** A proxy before the real server that refuses at first, and when its client came. */
  private static final class Visits {
    final Proxy proxy;

    Visits(int serverPort) throws IOException {
      proxy = new Proxy(new InetSocketAddress("127.0.0.1", serverPort));
      proxy.refuse(true);
    }

    List<Long> gaps() {
      List<Long> times = proxy.acceptNanos();
      List<Long> gaps = new ArrayList<>();
      for (int i = 1; i < ATTEMPTS; i++) {
        gaps.add(times.get(i) - times.get(i - 1));
      }
      return gaps;
    }
  }
}
