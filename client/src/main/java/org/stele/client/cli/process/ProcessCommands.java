package org.stele.client.cli.process;

import java.util.List;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandProvider;

/** The commands that start, stop and ask servers. */
public final class ProcessCommands implements CommandProvider {
  @Override
  public List<Object> commands(CommandContext context) {
    return List.of(
        new StartCommand(context),
        new StopCommand(context),
        new RestartCommand(context),
        new StatusCommand(context),
        new SettingsCommand(context));
  }
}
