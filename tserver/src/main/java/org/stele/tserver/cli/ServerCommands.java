package org.stele.tserver.cli;

import java.util.List;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandProvider;

/** Adds {@code standalone}, {@code server} and {@code wal}. */
public final class ServerCommands implements CommandProvider {
  @Override
  public List<Object> commands(CommandContext context) {
    return List.of(
        new StandaloneCommand(context), new ServerCommand(context), new WalCommand(context));
  }
}
