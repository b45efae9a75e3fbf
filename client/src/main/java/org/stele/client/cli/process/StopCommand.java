package org.stele.client.cli.process;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.stele.client.cli.CommandContext;
import picocli.CommandLine.Command;

@Command(name = "stop", description = "Stop the server in the background, and wait until it has.")
final class StopCommand implements Callable<Integer> {
  private final CommandContext context;

  StopCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    new ServerStop(context, context.directory()).run();
    return 0;
  }
}
