package org.stele.tserver.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.stele.client.SteleClient;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.core.data.Mutation;
import org.stele.core.settings.StandardSettings;

/**
 * {@code stele bench soak}: clients that connect, cut, reset, close one half, and let deadlines
 * pass, for long; then the server must hold no more than before, and serve.
 */
final class SoakBench {
  /** What it is told. */
  record Plan(
      Duration load, int threads, long seed, @Nullable Path temp, Map<String, String> settings) {}

  private static final int FRESH = 256;
  private static final int ROWS = 100;
  private static final String TABLE = "soak";

  /** A server closes within these, and gives threads back. */
  private static final Map<String, String> SHORT_TIMES =
      Map.of(
          StandardSettings.RPC_IDLE_TIMEOUT.name(), "3s",
          StandardSettings.RPC_PARTIAL_TIMEOUT.name(), "1s",
          StandardSettings.RPC_WRITE_TIMEOUT.name(), "1s",
          StandardSettings.RPC_WORKERS_IDLE_TIMEOUT.name(), "1s");

  private static final Duration HELD = Duration.ofSeconds(6);
  private static final Duration SETTLE_LIMIT = Duration.ofMinutes(1);
  private static final Duration STEADY = Duration.ofSeconds(3);
  private static final Duration JOIN_LIMIT = Duration.ofMinutes(2);
  private static final long POLL_MILLIS = 200;

  /**
   * Connections of the one that asks, and threads and descriptors that come and go by themselves.
   */
  private static final int OWN_CONNECTIONS = 4;

  private static final int SLACK = 8;
  private static final long HEAP_SLACK_KIB = 16 << 10;

  /** The frame of the question itself. */
  private static final long OWN_BYTES = 4096;

  private static final int MOST_FAILURES = 20;

  private final CommandContext context;
  private final Plan plan;
  private final LongAdder connections = new LongAdder();
  private final LongAdder lookups = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();

  SoakBench(CommandContext context, Plan plan) {
    this.context = context;
    this.plan = plan;
  }

  /** Whether nothing was amiss. */
  boolean run() throws IOException {
    Map<String, String> settings = new LinkedHashMap<>(SHORT_TIMES);
    settings.putAll(plan.settings);
    try (BenchServer server = BenchServer.ofOwn(context, plan.temp, settings);
        SteleClient client = server.connect()) {
      long pid = Objects.requireNonNull(server.pid(), "the server is our own");
      prepare(client);
      Duration warmUp = plan.load.dividedBy(5);
      load(
          server,
          client,
          warmUp.compareTo(Duration.ofSeconds(60)) > 0 ? Duration.ofSeconds(60) : warmUp);
      ServerGauges base = steady(server, client, pid);
      Long baseHeap = ServerGauges.heapKib(pid);
      load(server, client, plan.load);
      ServerGauges end = settled(server, client, pid, base);
      Long endHeap = ServerGauges.heapKib(pid);
      int served = serveFresh(server);
      long loopFailures = counters(server, client).getOrDefault("rpc.loop.failures", 0L);
      List<String> leaks = leaks(base, end, baseHeap, endHeap);
      if (served < FRESH) {
        leaks.add("only " + served + " of " + FRESH + " fresh connections were served");
      }
      if (loopFailures > 0) {
        leaks.add("rpc.loop.failures is " + loopFailures);
      }
      leaks.addAll(failures);
      print(base, end, baseHeap, endHeap, served, leaks);
      return leaks.isEmpty();
    }
  }

  private static void prepare(SteleClient client) {
    client.tables().create(TABLE);
    for (int i = 0; i < ROWS; i++) {
      client.write(TABLE, Mutation.of("row" + i).put("f", "q", "value " + i));
    }
  }

  private void load(BenchServer server, SteleClient client, Duration time) {
    long end = System.nanoTime() + time.toNanos();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < plan.threads; i++) {
      SoakClient bad =
          new SoakClient(
              address(server),
              plan.seed + i,
              HELD.toNanos(),
              () -> System.nanoTime() - end >= 0,
              connections,
              this::fail);
      threads.add(new Thread(bad, "soak-" + i));
    }
    threads.add(new Thread(() -> lookUpUntil(client, end), "soak-lookups"));
    threads.forEach(
        thread -> {
          thread.setDaemon(true);
          thread.start();
        });
    long limit = end + JOIN_LIMIT.toNanos();
    for (Thread thread : threads) {
      try {
        thread.join(Math.max(1, (limit - System.nanoTime()) / 1_000_000));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CommandFailure("interrupted", e);
      }
      if (thread.isAlive()) {
        throw new CommandFailure(thread.getName() + " does not end: the server does not answer");
      }
    }
  }

  /** A client that does as it should, and is to notice nothing. */
  private void lookUpUntil(SteleClient client, long end) {
    for (int i = 0; System.nanoTime() - end < 0; i = (i + 1) % ROWS) {
      try {
        String value = client.lookup(TABLE, "row" + i).get("f", "q");
        if (!("value " + i).equals(value)) {
          fail("a lookup of row" + i + " gave " + value);
        }
        lookups.increment();
      } catch (RuntimeException e) {
        fail("a lookup failed: " + e.getMessage());
      }
    }
  }

  private void fail(String what) {
    failed.increment();
    if (failures.size() < MOST_FAILURES) {
      failures.add(what);
    }
  }

  private static InetSocketAddress address(BenchServer server) {
    return BenchServer.socketAddress(server.address());
  }

  private static Map<String, Long> counters(BenchServer server, SteleClient client) {
    return client.servers().status(server.address()).counters();
  }

  /** When the load has gone and the gauges stay the same for a while. */
  private static ServerGauges steady(BenchServer server, SteleClient client, long pid) {
    long limit = System.nanoTime() + SETTLE_LIMIT.toNanos();
    ServerGauges last = ServerGauges.of(pid, counters(server, client));
    long since = System.nanoTime();
    while (System.nanoTime() - limit < 0
        && (System.nanoTime() - since < STEADY.toNanos() || !isQuiet(last))) {
      BenchServer.pause(POLL_MILLIS);
      ServerGauges now = ServerGauges.of(pid, counters(server, client));
      if (now.threads() < last.threads() || now.descriptors() < last.descriptors()) {
        since = System.nanoTime();
      }
      last = now;
    }
    return last;
  }

  /** When they are back at the base, or never come back. */
  private static ServerGauges settled(
      BenchServer server, SteleClient client, long pid, ServerGauges base) {
    long limit = System.nanoTime() + SETTLE_LIMIT.toNanos();
    ServerGauges now = ServerGauges.of(pid, counters(server, client));
    while (System.nanoTime() - limit < 0 && !leaks(base, now, null, null).isEmpty()) {
      BenchServer.pause(POLL_MILLIS);
      now = ServerGauges.of(pid, counters(server, client));
    }
    return now;
  }

  private static boolean isQuiet(ServerGauges gauges) {
    return gauges.connections() <= OWN_CONNECTIONS && gauges.bufferedBytes() <= OWN_BYTES;
  }

  private static List<String> leaks(
      ServerGauges base, ServerGauges end, @Nullable Long baseHeap, @Nullable Long endHeap) {
    List<String> leaks = new ArrayList<>();
    if (end.descriptors() > base.descriptors() + SLACK) {
      leaks.add("descriptors: " + base.descriptors() + " before, " + end.descriptors() + " after");
    }
    if (end.threads() > base.threads() + SLACK) {
      leaks.add("threads: " + base.threads() + " before, " + end.threads() + " after");
    }
    if (!isQuiet(end)) {
      leaks.add(
          end.connections() + " connections and " + end.bufferedBytes() + " buffered bytes remain");
    }
    if (baseHeap != null && endHeap != null && endHeap > baseHeap + HEAP_SLACK_KIB) {
      leaks.add("heap: " + baseHeap + " KiB before, " + endHeap + " KiB after");
    }
    return leaks;
  }

  /** How many of the fresh connections get the answer to a call. */
  private int serveFresh(BenchServer server) {
    int served = 0;
    for (int i = 0; i < FRESH; i++) {
      try (PlainPing fresh = new PlainPing(address(server), 0)) {
        fresh.call();
        served++;
      } catch (IOException e) {
        fail("a fresh connection: " + e);
      }
    }
    return served;
  }

  private void print(
      ServerGauges base,
      ServerGauges end,
      @Nullable Long baseHeap,
      @Nullable Long endHeap,
      int served,
      List<String> leaks) {
    Map<String, @Nullable Object> before = base.toJson();
    before.put("heap_kib", baseHeap);
    Map<String, @Nullable Object> after = end.toJson();
    after.put("heap_kib", endHeap);
    if (context.json()) {
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      object.put("system", ServerVariant.STELE);
      object.put("seconds", plan.load.toMillis() / 1000.0);
      object.put("connections", connections.sum());
      object.put("lookups", lookups.sum());
      object.put("failures", failed.sum());
      object.put("fresh_served", (long) served);
      object.put("base", before);
      object.put("end", after);
      object.put("leaks", leaks);
      context.printJson(object);
    } else {
      printTable(before, after, served, leaks);
    }
    context.out().flush();
  }

  private void printTable(
      Map<String, @Nullable Object> before,
      Map<String, @Nullable Object> after,
      int served,
      List<String> leaks) {
    List<ResultTable.Column> columns = new ArrayList<>();
    columns.add(new ResultTable.Column("when", "when", 0));
    for (String key : before.keySet()) {
      columns.add(new ResultTable.Column(key, key.replace('_', ' '), 0));
    }
    ResultTable table = new ResultTable(context, columns);
    before.put("when", "before");
    after.put("when", "after");
    table.print(before);
    table.print(after);
    context.say("connections made: " + connections.sum());
    context.say("lookups beside them: " + lookups.sum());
    context.say("fresh connections served: " + served + " of " + FRESH);
    context.say("failures: " + failed.sum());
    leaks.forEach(leak -> context.say("not as it should be: " + leak));
  }
}
