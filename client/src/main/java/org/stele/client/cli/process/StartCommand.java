package org.stele.client.cli.process;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.stele.client.cli.CommandContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "start",
    description = {
      "Start a standalone server in the background, and wait until it is ready.",
      "It is one process with a tablet server and ZooKeeper.",
      "If it does not start the cause is printed and the exit code is 1. Its log is DIR/logs/stele.log."
    })
final class StartCommand implements Callable<Integer> {
  private final CommandContext context;

  @Mixin private ServerOptions server;

  StartCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    new ServerStart(context, context.directory()).run(server);
    return 0;
  }
}
