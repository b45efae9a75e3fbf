package org.stele.tserver.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.core.settings.Settings;
import org.stele.core.settings.StandardSettings;
import org.stele.core.thrift.ServerService;
import org.stele.core.time.Clock;
import org.stele.server.rpc.Call;
import org.stele.server.rpc.Execution;
import org.stele.server.rpc.Methods;
import org.stele.server.rpc.RpcServer;

/**
 * An endpoint alone, with one method: {@code ServerService.ping}, which here holds a worker for a
 * given time. Runs in a process of its own until standard input ends; for each line that it reads
 * it prints what it has counted.
 */
final class SleepingServer {
  private final CommandContext context;
  private final long serviceNanos;
  private final Clock clock = Clock.system();
  private final RpcServer server;
  private final LongAdder runs = new LongAdder();
  private final LongAdder ranLate = new LongAdder();

  private SleepingServer(CommandContext context, Map<String, String> settings, Duration serviceTime)
      throws IOException {
    this.context = context;
    this.serviceNanos = serviceTime.toNanos();
    server =
        new RpcServer(
            Settings.of(settings),
            new Methods()
                .add(
                    "ServerService",
                    "ping",
                    Execution.WORKER,
                    false,
                    ServerService.ping_args::new,
                    this::sleep),
            clock,
            "bench",
            new SecureRandom().nextLong());
  }

  static void run(CommandContext context, Map<String, String> settings, Duration serviceTime)
      throws IOException {
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.put(StandardSettings.RPC_PORT.name(), "0");
    SleepingServer sleeping = new SleepingServer(context, all, serviceTime);
    try (RpcServer server = sleeping.server) {
      server.start();
      LibthriftServer.sayReady(context, server.address().getPort());
      sleeping.reportUntilEnd();
    }
  }

  private void sleep(ServerService.ping_args arguments, Call call) {
    long begin = clock.nanos();
    runs.increment();
    if (begin - call.caller().deadlineNanos() >= 0) {
      ranLate.increment();
    }
    for (long left = serviceNanos; left > 0; left = begin + serviceNanos - clock.nanos()) {
      LockSupport.parkNanos(left);
    }
    ServerService.ping_result result = new ServerService.ping_result();
    result.setSuccess(ByteBuffer.allocate(arguments.getReplySize()));
    call.reply(result);
  }

  private void reportUntilEnd() throws IOException {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(context.in(), StandardCharsets.UTF_8));
    while (input.readLine() != null) {
      Map<String, @Nullable Object> report = new LinkedHashMap<>(server.counters().snapshot());
      report.put("runs", runs.sum());
      report.put("ran_late", ranLate.sum());
      context.printJson(report);
      context.out().flush();
    }
  }
}
