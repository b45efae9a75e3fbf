package org.stele.client.cli.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandFailure;
import org.stele.client.cli.FailureText;
import org.stele.client.instance.ServerProcess;

/** Starts the server of a directory in the background and waits until it serves. */
final class ServerStart {
  private static final long POLL_MILLIS = 50;

  private final CommandContext context;
  private final Path directory;

  ServerStart(CommandContext context, Path directory) {
    this.context = context;
    this.directory = directory;
  }

  /** Starts the server, unless one runs, and says what became of it. */
  void run(ServerOptions options) throws IOException {
    List<String> serverArguments = options.toArguments();
    Map<String, String> settings = options.settings();
    Optional<ServerProcess> running = ServerProcess.find(directory);
    if (running.isPresent()) {
      report(await(null, null, settings), "is running already");
      return;
    }
    ServerLauncher launcher = new ServerLauncher(context, directory);
    Process child = launcher.launch(serverArguments);
    report(await(child, launcher, settings), "is ready");
  }

  private void report(Readiness readiness, String what) {
    if (context.json()) {
      context.printJson(readiness.toJson());
    } else {
      context
          .out()
          .line(
              "Stele "
                  + readiness.version()
                  + " in "
                  + directory
                  + " "
                  + what
                  + " (pid "
                  + readiness.pid()
                  + "): address "
                  + readiness.address()
                  + ", ZooKeeper "
                  + readiness.zookeeper());
    }
  }

  /**
   * Waits until the directory's server is ready.
   *
   * @param child the process that was started, null if there was a server before
   * @param settings that options give it: among them may be how it is connected to
   */
  private Readiness await(
      @Nullable Process child, @Nullable ServerLauncher launcher, Map<String, String> settings)
      throws IOException {
    long deadline = context.clock().nanos() + context.timeout().toNanos();
    String reason = "it has not come up";
    do {
      Optional<ServerProcess> server = ServerProcess.find(directory);
      if (server.isPresent() && server.get().status() != null) {
        Readiness readiness = ask(server.get(), settings);
        if (readiness.reason() == null) {
          return readiness;
        }
        reason = readiness.reason();
      } else if (server.isPresent()) {
        reason = "it is starting";
      } else if (child == null) {
        throw new CommandFailure("the server in " + directory + " ended while it started");
      } else if (!child.isAlive() && launcher != null) {
        throw new CommandFailure("the server did not start: " + launcher.cause());
      }
      pause();
    } while (context.clock().nanos() - deadline < 0);
    throw new CommandFailure(
        "the server in "
            + directory
            + " is not ready after "
            + context.timeout().toSeconds()
            + " s: "
            + reason
            + "; it goes on starting, 'stele status' tells how far it is, and its log is "
            + directory.resolve("logs").resolve("stele.log"));
  }

  /** A server that runs is not to be mistaken for one that did not start. */
  private Readiness ask(ServerProcess server, Map<String, String> settings) {
    try {
      return Readiness.of(context, server, context.clientOptions(directory, settings));
    } catch (OutOfMemoryError e) { // of threads, mostly, which count together with the server's
      throw new CommandFailure(
          "the server in "
              + directory
              + " runs (pid "
              + server.pid()
              + "), but this command cannot ask it whether it is ready: "
              + FailureText.of(e),
          e);
    }
  }

  static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", e);
    }
  }
}
