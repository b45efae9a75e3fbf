package org.stele.tserver.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.stele.client.cli.CommandProvider;

class ServerCommandsTest {
  @Test
  void commandsAreContributed() {
    assertTrue(
        ServiceLoader.load(CommandProvider.class).stream()
            .map(ServiceLoader.Provider::type)
            .anyMatch(ServerCommands.class::equals));
  }
}
