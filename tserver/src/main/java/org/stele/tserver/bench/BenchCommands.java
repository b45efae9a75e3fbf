package org.stele.tserver.bench;

import java.util.List;
import org.stele.client.cli.CommandContext;
import org.stele.client.cli.CommandProvider;

/** Adds {@code bench}. */
public final class BenchCommands implements CommandProvider {
  @Override
  public List<Object> commands(CommandContext context) {
    return List.of(new BenchCommand(context));
  }
}
