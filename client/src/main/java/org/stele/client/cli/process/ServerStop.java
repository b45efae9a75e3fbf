package org.stele.client.cli.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.client.instance.ServerProcess;

/** Asks the server of a directory to end, and waits until it has. */
final class ServerStop {
  private static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final CommandContext context;
  private final Path directory;

  ServerStop(CommandContext context, Path directory) {
    this.context = context;
    this.directory = directory;
  }

  /** Stops the server and says so; if none runs, that is what was wanted. */
  void run() throws IOException {
    Optional<ServerProcess> server = ServerProcess.find(directory);
    if (server.isEmpty()) {
      report(null, "is not running");
      return;
    }
    long pid = server.get().pid();
    ask(pid);
    await(server.get());
    report(pid, "has stopped (pid " + pid + ")");
  }

  private void ask(long pid) {
    boolean asked = ProcessHandle.of(pid).map(ProcessHandle::destroy).orElse(true);
    if (!asked) {
      throw new CommandFailure(
          "the server in " + directory + " (pid " + pid + ") cannot be sent a signal");
    }
  }

  /**
   * Asks again from time to time: a virtual machine that can make no thread at that moment loses
   * the signal.
   */
  private void await(ServerProcess server) throws IOException {
    long deadline = context.clock().nanos() + context.timeout().toNanos();
    long nextAsk = context.clock().nanos() + ASK_AGAIN_NANOS;
    while (server.isAlive()) {
      if (context.clock().nanos() - nextAsk >= 0) {
        nextAsk += ASK_AGAIN_NANOS;
        if (ServerProcess.find(directory).map(ServerProcess::pid).orElse(0L) == server.pid()) {
          ask(server.pid());
        }
      }
      if (context.clock().nanos() - deadline >= 0) {
        throw new CommandFailure(
            "the server in "
                + directory
                + " (pid "
                + server.pid()
                + ") was asked to stop and still runs after "
                + context.timeout().toSeconds()
                + " s; 'kill -9 "
                + server.pid()
                + "' ends it, and what was acknowledged is safe");
      }
      ServerStart.pause();
    }
  }

  private void report(@Nullable Long pid, String what) {
    if (context.json()) {
      Map<String, @Nullable Object> object = new LinkedHashMap<>();
      object.put("pid", pid);
      object.put("ready", false);
      context.printJson(object);
    } else {
      context.out().line("Stele in " + directory + " " + what);
    }
  }
}
