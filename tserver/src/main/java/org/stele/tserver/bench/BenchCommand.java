package org.stele.tserver.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.core.data.Durability;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "bench",
    description = {
      "Measure calls, lookups, reads and writes.",
      "A server process is started for it in a temporary directory, unless --connect or --dir names a",
      "running instance; the load comes from this process."
    })
final class BenchCommand implements Runnable {
  private final CommandContext context;

  @Spec private CommandSpec spec;

  BenchCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  @Command(
      name = "lookups",
      description = {
        "Random lookups of whole rows that are in the block cache (the test RandomCachedLookups): rows",
        "of 4 cells in 16 tablets with blocks of 8 KiB, flushed and compacted. Each answer is checked."
      })
  int lookups(
      @Mixin BenchOptions options,
      @Option(
              names = "--rows",
              paramLabel = "N",
              defaultValue = "100000",
              description = "Rows of the table (default: 100000).")
          int rows,
      @Option(
              names = "--threads",
              paramLabel = "N",
              split = ",",
              defaultValue = "1,4,8,16,32,64,128,256",
              description =
                  "Numbers of threads, a level for each (default: 1,4,8,16,32,64,128,256).")
          List<Integer> threads,
      @Option(names = "--misses", description = "Look up random rows that do not exist.")
          boolean misses,
      @Mixin ComparisonOptions comparison)
      throws Exception {
    LookupBench bench =
        valid(
            () ->
                new LookupBench(
                    context,
                    options,
                    BenchOptions.positive("--rows", rows, 100_000_000),
                    BenchOptions.threads(threads),
                    misses,
                    comparison.baseline(),
                    comparison.rounds()));
    bench.run();
    return 0;
  }

  @Command(
      name = "rpc",
      description = {
        "A call that does nothing (ServerService.ping, about 100 bytes there and 200 back): what the",
        "call path itself costs."
      })
  int rpc(
      @Mixin BenchOptions options,
      @Option(
              names = "--mode",
              paramLabel = "M",
              defaultValue = "sync",
              description = {
                "sync: a thread that waits for each call; async: calls are begun without waiting",
                "(default: sync)."
              })
          CallMode mode,
      @Option(
              names = "--threads",
              paramLabel = "N",
              split = ",",
              defaultValue = "1,16,32,256",
              description =
                  "With --mode sync: numbers of callers, a level for each (default: 1,16,32,256).")
          List<Integer> threads,
      @Option(
              names = "--in-flight",
              paramLabel = "N",
              split = ",",
              defaultValue = "60",
              description =
                  "With --mode async: numbers of calls in flight, a level for each (default: 60).")
          List<Integer> inFlight,
      @Option(
              names = "--idle-connections",
              paramLabel = "N",
              defaultValue = "0",
              description = {
                "Measure each level beside this many other connections to the same server, too",
                "(stele-crowded): a third silent, a third greeted and idle, a third sending a byte a second."
              })
          int idleConnections,
      @Option(
              names = "--junk",
              description =
                  "Then, too, a thread that connects all the time and sends what is no call.")
          boolean junk,
      @Mixin ComparisonOptions comparison)
      throws Exception {
    RpcBench bench =
        valid(
            () ->
                new RpcBench(
                    context,
                    options,
                    mode,
                    mode == CallMode.sync
                        ? BenchOptions.threads(threads)
                        : BenchOptions.inFlight(inFlight),
                    comparison.baseline(),
                    comparison.rounds(),
                    idleConnections == 0
                        ? 0
                        : BenchOptions.positive("--idle-connections", idleConnections, 500_000),
                    junk));
    bench.run();
    return 0;
  }

  @Command(
      name = "libthrift-server",
      hidden = true,
      description = "A server of libthrift that ends with its standard input; for --baseline.")
  int libthriftServer(@Parameters(paramLabel = "KIND") LibthriftKind kind) throws Exception {
    LibthriftServer.run(context, kind);
    return 0;
  }

  @Command(
      name = "evaluation",
      description = {
        "Reads and writes of rows with one value (the shape of HBase's PerformanceEvaluation): latency",
        "and throughput of each command at each number of threads."
      })
  int evaluation(
      @Mixin BenchOptions options,
      @Option(
              names = "--commands",
              paramLabel = "NAME",
              split = ",",
              defaultValue = "sequentialWrite,randomWrite,sequentialRead,randomRead,scan",
              description =
                  "Any of sequentialWrite, randomWrite, sequentialRead, randomRead, scan (default: all).")
          List<EvaluationBench.Operation> commands,
      @Option(
              names = "--threads",
              paramLabel = "N",
              split = ",",
              defaultValue = "1,16",
              description = "Numbers of threads, a level for each (default: 1,16).")
          List<Integer> threads,
      @Option(
              names = "--rows",
              paramLabel = "N",
              defaultValue = "100000",
              description = "Rows of the table (default: 100000).")
          int rows,
      @Option(
              names = "--value-size",
              paramLabel = "BYTES",
              defaultValue = "1000",
              description = "Size of a row's value (default: 1000).")
          int valueSize,
      @Option(
              names = "--durability",
              paramLabel = "D",
              description = "none, log, flush or sync (default: the table's, which is sync).")
          @Nullable Durability durability,
      @Option(
              names = "--batch",
              paramLabel = "N",
              defaultValue = "1",
              description = {
                "Rows that are written and acknowledged together (default: 1). Latencies are those of a",
                "batch, requests per second are rows."
              })
          int batch)
      throws Exception {
    EvaluationBench bench =
        valid(
            () ->
                new EvaluationBench(
                    context,
                    options,
                    commands,
                    BenchOptions.threads(threads),
                    new EvaluationData(
                        BenchOptions.positive("--rows", rows, 100_000_000),
                        BenchOptions.positive("--value-size", valueSize, 16 << 20),
                        options.seed()),
                    durability,
                    BenchOptions.positive("--batch", batch, 1_000_000)));
    bench.run();
    return 0;
  }

  @Command(
      name = "fairness",
      description = {
        "What each of several clients gets of a server that has less to give than all want. Each has a",
        "process and a loopback address of its own; the server's handlers sleep, so that the processors",
        "do not decide."
      })
  int fairness(
      @Option(
              names = "--clients",
              paramLabel = "N",
              defaultValue = "18",
              description = "Clients with one caller each (default: 18).")
          int clients,
      @Option(
              names = "--tenants",
              paramLabel = "NAME:CALLERS",
              split = ",",
              description = {
                "Instead of --clients: tenants with different numbers of callers. The one with fewest is",
                "measured alone first."
              })
          @Nullable List<String> tenants,
      @Option(
              names = "--handlers",
              paramLabel = "N",
              defaultValue = "4",
              description = "Calls that the server does at a time (default: 4).")
          int handlers,
      @Option(
              names = "--queue",
              paramLabel = "N",
              defaultValue = "8",
              description = "Calls that wait at most (default: 8).")
          int queue,
      @Option(
              names = "--service-time",
              paramLabel = "TIME",
              defaultValue = "20ms",
              description = "How long a handler sleeps (default: 20ms).")
          Duration serviceTime,
      @Option(
              names = "--open-loop",
              paramLabel = "FACTOR",
              defaultValue = "0",
              description = {
                "Calls at this many times the rate that the handlers can do, whatever becomes of those",
                "before, without retries; 0: callers in a loop that try again (default: 0)."
              })
          double openLoop,
      @Option(
              names = "--deadline",
              paramLabel = "TIME",
              description =
                  "Of each call with its retries (default: 60s; with --open-loop 25 service times).")
          @Nullable Duration deadline,
      @Option(
              names = "--seconds",
              paramLabel = "S",
              defaultValue = "10",
              description = "How long it is measured (default: 10).")
          double seconds,
      @Option(
              names = "--warmup",
              paramLabel = "S",
              defaultValue = "2",
              description = "How long the load runs before that (default: 2).")
          double warmup,
      @Option(
              names = "--server-setting",
              paramLabel = "NAME=VALUE",
              arity = "1..*",
              description = "More settings of the server.")
          @Nullable Map<String, String> settings)
      throws Exception {
    FairnessBench bench =
        valid(
            () ->
                new FairnessBench(
                    context,
                    new FairnessBench.Plan(
                        tenants == null ? Tenant.clients(clients) : Tenant.parse(tenants),
                        BenchOptions.positive("--handlers", handlers, 4096),
                        BenchOptions.positive("--queue", queue, 1_000_000),
                        serviceTime,
                        deadline != null
                            ? deadline
                            : openLoop > 0 ? serviceTime.multipliedBy(25) : Duration.ofSeconds(60),
                        BenchOptions.factor("--open-loop", openLoop),
                        Objects.requireNonNullElse(settings, Map.of())),
                    BenchOptions.duration("--warmup", warmup, 0),
                    BenchOptions.duration("--seconds", seconds, 0.1)));
    bench.run();
    return 0;
  }

  @Command(
      name = "soak",
      description = {
        "Healthy calls, and connections that end in every wrong way, for long, against a server of its",
        "own. Fails if a healthy call gets a wrong or no answer, or if the server then holds more",
        "connections, threads, descriptors or memory than before."
      })
  int soak(
      @Mixin ServerOptions server,
      @Option(
              names = "--callers",
              paramLabel = "N",
              defaultValue = "8",
              description = "Threads that make healthy calls (default: 8).")
          int callers,
      @Option(
              names = "--seconds",
              paramLabel = "S",
              defaultValue = "900",
              description = "How long (default: 900).")
          double seconds,
      @Option(
              names = "--warmup",
              paramLabel = "S",
              defaultValue = "5",
              description =
                  "How long the load runs before it is read what the server holds (default: 5).")
          double warmup,
      @Option(
              names = "--seed",
              paramLabel = "N",
              defaultValue = "1",
              description = "Of the order of events (default: 1).")
          long seed)
      throws Exception {
    SoakBench bench =
        valid(
            () ->
                new SoakBench(
                    context,
                    server,
                    BenchOptions.positive("--callers", callers, 4096),
                    BenchOptions.duration("--warmup", warmup, 0.1),
                    BenchOptions.duration("--seconds", seconds, 0.1),
                    seed));
    bench.run();
    return 0;
  }

  @Command(
      name = "sleeping-server",
      hidden = true,
      description = "An endpoint with sleeping handlers that ends with its standard input.")
  int sleepingServer(
      @Option(names = "--service-time", required = true) Duration serviceTime,
      @Option(names = "--set") @Nullable Map<String, String> settings)
      throws Exception {
    SleepingServer.run(context, Objects.requireNonNullElse(settings, Map.of()), serviceTime);
    return 0;
  }

  @Command(
      name = "tenant",
      hidden = true,
      description = "The load of one tenant of 'bench fairness'; ends with its standard input.")
  int tenant(
      @Option(names = "--server", required = true) String server,
      @Option(names = "--from", required = true) String from,
      @Option(names = "--callers", required = true) int callers,
      @Option(names = "--rate", required = true) double rate,
      @Option(names = "--deadline", required = true) Duration deadline,
      @Option(names = "--set") @Nullable Map<String, String> settings)
      throws Exception {
    TenantLoad.run(
        context,
        new TenantLoad.Given(
            server, from, callers, rate, deadline, Objects.requireNonNullElse(settings, Map.of())));
    return 0;
  }

  /** Makes a benchmark; an option that is not possible is wrong usage. */
  private <T> T valid(Supplier<T> maker) {
    try {
      return maker.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }
}
