package org.stele.client.cli.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.Target;
import org.stele.client.instance.ServerProcess;
import picocli.CommandLine.Command;

@Command(
    name = "status",
    description = "Say whether the server is ready, or why not (then the exit code is 1).")
final class StatusCommand implements Callable<Integer> {
  private final CommandContext context;

  StatusCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Target target = context.target();
    String connect = target.connect();
    Path directory = target.directory();
    Readiness readiness =
        connect != null
            ? Readiness.of(context, connect, context.clientOptions())
            : ofDirectory(Objects.requireNonNull(directory));
    if (context.json()) {
      context.printJson(readiness.toJson());
    } else {
      String where = connect != null ? "at " + connect : "in " + directory;
      context.out().line(text(readiness, where));
    }
    return readiness.ready() ? 0 : 1;
  }

  private Readiness ofDirectory(Path directory) throws IOException {
    return ServerProcess.find(directory)
        .map(process -> Readiness.of(context, process, context.clientOptions()))
        .orElseGet(() -> Readiness.notRunning("it is not running"));
  }

  private static String text(Readiness readiness, String where) {
    String pid = readiness.pid() == null ? "" : " (pid " + readiness.pid() + ")";
    if (!readiness.ready()) {
      return "Stele " + where + " is not ready" + pid + ": " + readiness.reason();
    }
    return "Stele "
        + readiness.version()
        + " "
        + where
        + " is ready"
        + pid
        + ": address "
        + readiness.address()
        + ", ZooKeeper "
        + readiness.zookeeper()
        + (readiness.http() == null ? "" : ", http://" + readiness.http());
  }
}
