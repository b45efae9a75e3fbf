package org.stele.tserver.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.thrift.TException;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;

/**
 * {@code stele bench soak}: healthy calls, and connections that end in every wrong way, for long,
 * against a server of its own. Every healthy call gets its answer; in the end the server holds what
 * it held before, and serves as many as ever.
 */
final class SoakBench {
  private static final int FRESH_CONNECTIONS = 256;
  private static final Duration BACK_LIMIT = Duration.ofSeconds(90);
  private static final int REPLY_BYTES = 200;

  /** Of the column of names, in a table for people. */
  private static final int WIDTH = 22;

  private final CommandContext context;
  private final ServerOptions options;
  private final ServerVariant variant;
  private final int callers;
  private final Duration warmUp;
  private final Duration load;
  private final long seed;

  SoakBench(
      CommandContext context,
      ServerOptions options,
      int callers,
      Duration warmUp,
      Duration load,
      long seed) {
    this.context = context;
    this.options = options;
    this.variant = options.variant(context);
    this.callers = callers;
    this.warmUp = warmUp;
    this.load = load;
    this.seed = seed;
  }

  /** Fails with one line if an answer is wrong or missing, or if anything stays. */
  void run() throws IOException {
    if (context.isInstanceNamed()) {
      throw new CommandFailure("a soak starts a server of its own: without --connect and --dir");
    }
    try (BenchServer server = BenchServer.open(context, options, variant);
        SoakReadings readings = new SoakReadings(server.address(), ownPid(server))) {
      context.say(
          String.format(
              Locale.ROOT,
              "%d callers and %d troublemakers for %d s",
              callers,
              SoakLoad.TROUBLEMAKERS,
              load.toSeconds()));
      new SoakLoad(server.address(), callers, seed + 1_000_000).run(warmUp);
      Map<String, Long> base = readings.base(BACK_LIMIT);
      SoakLoad soak = new SoakLoad(server.address(), callers, seed);
      soak.run(load);
      List<SoakGauge> gauges = readings.awaitBack(base, BACK_LIMIT);
      int fresh = serveAtTheSameTime(BenchServer.socketAddress(server.address()));
      print(soak, gauges, fresh);
      for (SoakGauge gauge : gauges) {
        if (!gauge.isBack()) {
          throw new CommandFailure(gauge.leak());
        }
      }
    }
  }

  private static long ownPid(BenchServer server) {
    Long pid = server.pid();
    if (pid == null) {
      throw new CommandFailure("the server's process is not known");
    }
    return pid;
  }

  /** Fails unless fresh connections are all served while all are open. */
  private static int serveAtTheSameTime(InetSocketAddress server) {
    List<PlainConnection> fresh = new ArrayList<>();
    try {
      for (int i = 0; i < FRESH_CONNECTIONS; i++) {
        fresh.add(PlainConnection.open(server));
      }
      for (PlainConnection connection : fresh) {
        connection.beginPing(REPLY_BYTES);
      }
      for (PlainConnection connection : fresh) {
        connection.endPing(REPLY_BYTES);
      }
      return fresh.size();
    } catch (TException e) {
      throw new CommandFailure(
          "after the load not all of "
              + FRESH_CONNECTIONS
              + " connections are served: "
              + e.getMessage(),
          e);
    } finally {
      fresh.forEach(PlainConnection::close);
    }
  }

  private void print(SoakLoad soak, List<SoakGauge> gauges, int fresh) {
    if (context.json()) {
      Map<String, @Nullable Object> events = new LinkedHashMap<>();
      for (SoakEvent event : SoakEvent.values()) {
        events.put(event.text(), soak.count(event));
      }
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      object.put("system", ServerVariant.STELE);
      object.putAll(variant.endpoint());
      object.put("callers", callers);
      object.put("seconds", load.toMillis() / 1000.0);
      object.put("events", events);
      object.put("gauges", gauges.stream().map(SoakGauge::toJson).toList());
      object.put("fresh_connections", fresh);
      context.printJson(object);
    } else {
      ResultTable happened = new ResultTable(context, columns("event", "count"));
      for (SoakEvent event : SoakEvent.values()) {
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put("event", event.text());
        line.put("count", soak.count(event));
        happened.print(line);
      }
      context.say("");
      ResultTable held = new ResultTable(context, columns("gauge", "base", "end", "slack"));
      gauges.forEach(gauge -> held.print(gauge.toJson()));
      context.say("fresh connections served at the same time: " + fresh);
    }
    context.out().flush();
  }

  private static List<ResultTable.Column> columns(String... keys) {
    List<ResultTable.Column> columns = new ArrayList<>();
    for (String key : keys) {
      // The first has names, the others numbers.
      String title = columns.isEmpty() ? " ".repeat(WIDTH - key.length()) + key : key;
      columns.add(new ResultTable.Column(key, title, 0));
    }
    return columns;
  }
}
