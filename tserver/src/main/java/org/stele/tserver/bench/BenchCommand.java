package org.stele.tserver.bench;

import java.util.List;
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
                    comparison.rounds()));
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

  /** Makes a benchmark; an option that is not possible is wrong usage. */
  private <T> T valid(Supplier<T> maker) {
    try {
      return maker.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }
}
