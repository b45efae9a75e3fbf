package org.stele.client.cli.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.stele.client.cli.CommandContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "restart", description = "Stop the server in the background and start it again.")
final class RestartCommand implements Callable<Integer> {
  private final CommandContext context;

  @Mixin private ServerOptions server;

  RestartCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Path directory = context.directory();
    server.settings(); // wrong ones are told before anything is stopped
    new ServerStop(context, directory).run();
    new ServerStart(context, directory).run(server);
    return 0;
  }
}
