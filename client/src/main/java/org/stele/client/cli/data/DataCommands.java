package org.stele.client.cli.data;

import java.util.List;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandProvider;

/** The commands on tables and cells. */
public final class DataCommands implements CommandProvider {
  @Override
  public List<Object> commands(CommandContext context) {
    return List.of(
        new TableCommand(context),
        new LoadCommand(context),
        new PutCommand(context),
        new DeleteCommand(context),
        new LookupCommand(context),
        new ScanCommand(context),
        new SampleCommand(context));
  }
}
