package org.stele.tserver.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;

/**
 * {@code stele bench fairness}: what each of several tenants gets of a server that has less to give
 * than all of them want. Its handler sleeps, so that the processors do not decide.
 */
final class FairnessBench {
  /** What it is told. */
  record Plan(
      List<Tenant> tenants,
      int handlers,
      int queue,
      Duration serviceTime,
      Duration deadline,
      double openLoop,
      Map<String, String> settings) {
    Plan {
      Settings.of(settings); // which refuses what is not allowed
    }

    /** Calls per second that the handlers can do. */
    double capacity() {
      return handlers / (serviceTime.toNanos() / 1e9);
    }
  }

  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(60);

  /** A tenant's process is small, so that many of them have room. */
  private static final Map<String, String> SMALL_PROCESS =
      Map.of(
          "STELE_BENCH_HEAP", "-Xms16m -Xmx128m",
          "STELE_BENCH_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1");

  private final CommandContext context;
  private final Plan plan;
  private final Duration warmUp;
  private final Duration measure;
  private final List<BenchProcess> processes = new ArrayList<>();

  FairnessBench(CommandContext context, Plan plan, Duration warmUp, Duration measure) {
    this.context = context;
    this.plan = plan;
    this.warmUp = warmUp;
    this.measure = measure;
  }

  void run() throws IOException {
    try {
      BenchProcess server = startServer();
      long port = number(server.awaitReady(), "port");
      List<BenchProcess> tenants = startTenants("127.0.0.1:" + port);
      context.say(
          String.format(
              Locale.ROOT,
              "%d tenants, %d handlers of %d ms, %d places in the queue: %.0f calls/s are possible",
              plan.tenants.size(),
              plan.handlers,
              plan.serviceTime.toMillis(),
              plan.queue,
              plan.capacity()));
      Map<String, @Nullable Object> alone = lightAlone(tenants);
      List<Map<String, @Nullable Object>> results = load(tenants);
      server.tell("report");
      print(results, server.read(ANSWER_LIMIT), alone);
    } finally {
      processes.forEach(BenchProcess::close);
    }
  }

  private BenchProcess startServer() throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add("sleeping-server");
    arguments.add("--service-time=" + plan.serviceTime.toMillis() + "ms");
    Map<String, String> settings = new LinkedHashMap<>(plan.settings);
    settings.put(StandardSettings.RPC_WORKERS.name(), Integer.toString(plan.handlers));
    settings.put(StandardSettings.RPC_QUEUE_CALLS.name(), Integer.toString(plan.queue));
    arguments.addAll(set(settings));
    return start("the server", Map.of(), arguments);
  }

  private static List<String> set(Map<String, String> settings) {
    return settings.entrySet().stream()
        .map(setting -> "--set=" + setting.getKey() + "=" + setting.getValue())
        .toList();
  }

  private List<BenchProcess> startTenants(String server) throws IOException {
    List<BenchProcess> tenants = new ArrayList<>();
    for (Tenant tenant : plan.tenants) {
      double rate = plan.openLoop * plan.capacity() / plan.tenants.size();
      List<String> arguments =
          new ArrayList<>(
              List.of(
                  "tenant",
                  "--server=" + server,
                  "--from=" + tenant.address(),
                  "--callers=" + tenant.callers(),
                  "--rate=" + rate,
                  "--deadline=" + plan.deadline.toMillis() + "ms"));
      arguments.addAll(set(plan.settings));
      tenants.add(start("tenant " + tenant.name(), SMALL_PROCESS, arguments));
    }
    for (BenchProcess tenant : tenants) {
      tenant.awaitReady();
    }
    return tenants;
  }

  private BenchProcess start(String what, Map<String, String> environment, List<String> arguments)
      throws IOException {
    BenchProcess process = BenchProcess.start(context, what, environment, arguments);
    processes.add(process);
    return process;
  }

  /** The tenant with fewest callers alone, if there are different ones; else null. */
  private @Nullable Map<String, @Nullable Object> lightAlone(List<BenchProcess> tenants)
      throws IOException {
    long sizes = plan.tenants.stream().mapToInt(Tenant::callers).distinct().count();
    return sizes < 2 || plan.openLoop > 0 ? null : load(List.of(tenants.get(lightest()))).get(0);
  }

  private int lightest() {
    return plan.tenants.indexOf(
        plan.tenants.stream().min(Comparator.comparingInt(Tenant::callers)).orElseThrow());
  }

  /** Has these make their load at the same time. */
  private List<Map<String, @Nullable Object>> load(List<BenchProcess> tenants) throws IOException {
    String times = warmUp.toMillis() / 1000.0 + " " + measure.toMillis() / 1000.0;
    for (BenchProcess tenant : tenants) {
      tenant.tell(times);
    }
    List<Map<String, @Nullable Object>> results = new ArrayList<>();
    for (BenchProcess tenant : tenants) {
      results.add(tenant.read(warmUp.plus(measure).plus(ANSWER_LIMIT)));
    }
    return results;
  }

  private void print(
      List<Map<String, @Nullable Object>> results,
      Map<String, @Nullable Object> server,
      @Nullable Map<String, @Nullable Object> alone) {
    Shares shares =
        new Shares(results.stream().map(result -> number(result, "successes")).toList());
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("system", ServerVariant.STELE);
    object.put("clients", plan.tenants.size());
    object.put("handlers", plan.handlers);
    object.put("queue", plan.queue);
    object.put("service_time_ms", plan.serviceTime.toMillis());
    object.put("seconds", measure.toMillis() / 1000.0);
    object.put("open_loop", plan.openLoop);
    object.putAll(shares.toJson());
    object.put("BUSY", sum(results, "BUSY"));
    object.put("failures", sum(results, "failures"));
    double perSecond = shares.total() / (measure.toMillis() / 1000.0);
    object.put("ops_per_s", LevelResult.rounded(perSecond, 10));
    object.put("goodput", LevelResult.rounded(perSecond / plan.capacity(), 10_000));
    object.put("expired", server.get("rpc.expired"));
    object.put("ran_late", server.get("ran_late"));
    List<Map<String, @Nullable Object>> tenants = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      tenants.add(tenant(i, results.get(i), alone));
    }
    object.put("tenants", tenants);
    if (context.json()) {
      context.printJson(object);
    } else {
      printTable(object, tenants);
    }
    context.out().flush();
  }

  private Map<String, @Nullable Object> tenant(
      int number,
      Map<String, @Nullable Object> result,
      @Nullable Map<String, @Nullable Object> alone) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("tenant", plan.tenants.get(number).name());
    object.put("callers", plan.tenants.get(number).callers());
    object.putAll(result);
    if (alone != null && number == lightest()) {
      double before = decimal(alone, "p99_ms");
      object.put("alone_p99_ms", before);
      object.put(
          "p99_ratio",
          before == 0 ? null : LevelResult.rounded(decimal(result, "p99_ms") / before, 1000));
    }
    return object;
  }

  private void printTable(
      Map<String, @Nullable Object> all, List<Map<String, @Nullable Object>> tenants) {
    List<ResultTable.Column> columns = new ArrayList<>();
    for (String key : List.of("tenant", "callers", "successes", "BUSY", "failures")) {
      columns.add(new ResultTable.Column(key, key, 0));
    }
    for (String key : List.of("avg_ms", "p50_ms", "p99_ms", "max_ms")) {
      columns.add(new ResultTable.Column(key, key.replace('_', ' '), 2));
    }
    if (tenants.stream().anyMatch(tenant -> tenant.containsKey("p99_ratio"))) {
      columns.add(new ResultTable.Column("alone_p99_ms", "alone p99 ms", 2));
    }
    ResultTable table = new ResultTable(context, columns);
    tenants.forEach(table::print);
    for (String key :
        List.of(
            "min",
            "median",
            "max",
            "min_max_ratio",
            "jain",
            "BUSY",
            "failures",
            "expired",
            "ran_late",
            "goodput")) {
      context.say(key + ": " + all.get(key));
    }
  }

  private static long sum(List<Map<String, @Nullable Object>> results, String key) {
    return results.stream().mapToLong(result -> number(result, key)).sum();
  }

  private static long number(Map<String, @Nullable Object> object, String key) {
    if (object.get(key) instanceof Long number) {
      return number;
    }
    throw new CommandFailure("no " + key + " in " + object);
  }

  private static double decimal(Map<String, @Nullable Object> object, String key) {
    if (object.get(key) instanceof Number number) {
      return number.doubleValue();
    }
    throw new CommandFailure("no " + key + " in " + object);
  }
}
