package org.stele.tserver.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.core.settings.StandardSettings;

/** {@code stele bench rpc}: the call that does nothing. */
final class RpcBench {
  /** Room for those that are not idle. */
  private static final int OTHER_CONNECTIONS = 10_000;

  private final CommandContext context;
  private final BenchOptions options;
  private final List<ServerVariant> variants;
  private final CallMode mode;
  private final List<Integer> levels;
  private final @Nullable Baseline baseline;
  private final int rounds;
  private final int idleConnections;
  private final boolean junk;

  /**
   * @param levels how many calls are under way at a time
   * @param idleConnections measure beside so many other connections, too
   * @param junk measure beside connections that talk nonsense, too
   */
  RpcBench(
      CommandContext context,
      BenchOptions options,
      CallMode mode,
      List<Integer> levels,
      @Nullable Baseline baseline,
      int rounds,
      int idleConnections,
      boolean junk) {
    this.context = context;
    this.options = options;
    this.mode = mode;
    this.levels = List.copyOf(levels);
    this.baseline = baseline;
    this.rounds = rounds;
    this.idleConnections = idleConnections;
    this.junk = junk;
    this.variants = options.server().variants(context);
    options.measure();
    options.warmup();
  }

  void run() throws Exception {
    try (Turns turns = new Turns(context)) {
      for (ServerVariant variant : variants) {
        addStele(turns, variant);
      }
      if (baseline != null) {
        for (LibthriftKind kind : LibthriftKind.values()) {
          turns.add(LibthriftEmptyCall.start(context, kind, mode));
        }
      }
      context.say(
          String.format(
              Locale.ROOT,
              "the empty call (%d bytes there, %d back), %s",
              EmptyCall.PAYLOAD_BYTES,
              EmptyCall.REPLY_BYTES,
              mode == CallMode.sync ? "a waiting thread for each" : "begun without waiting"));
      turns.run(levels, rounds, options.warmup(), options.measure(), columns(mode));
    }
  }

  private void addStele(Turns turns, ServerVariant variant) throws IOException {
    if (idleConnections == 0 && !junk) {
      turns.add(SteleEmptyCall.start(context, options.server(), variant, mode));
      return;
    }
    ServerVariant roomy =
        context.isInstanceNamed()
            ? variant
            : variant.withDefault(
                StandardSettings.RPC_CONNECTIONS.name(),
                Integer.toString(idleConnections + OTHER_CONNECTIONS));
    SteleEmptyCall stele = SteleEmptyCall.start(context, options.server(), roomy, mode);
    turns.add(stele);
    turns.add(new CrowdedEmptyCall(stele, idleConnections, junk));
  }

  private static List<ResultTable.Column> columns(CallMode mode) {
    List<ResultTable.Column> columns = new ArrayList<>();
    columns.add(
        new ResultTable.Column("threads", mode == CallMode.sync ? "threads" : "in flight", 0));
    columns.add(new ResultTable.Column("ops_per_s", "calls/s", 0));
    columns.addAll(ResultTable.COMMON);
    return columns;
  }
}
