package org.stele.tserver.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.stele.client.cli.CommandProvider;

class StandaloneCommandTest {
  @Test
  void portIsFollowedByThatOfZooKeeperUnlessItIsFree() {
    assertEquals(
        Map.of("rpc.port", "9000", "zookeeper.port", "9001"),
        StandaloneCommand.options(9000, null));
    assertEquals(
        Map.of("rpc.port", "0", "zookeeper.port", "0"), StandaloneCommand.options(0, null));
    assertEquals(Map.of(), StandaloneCommand.options(null, null));
  }

  @Test
  void singleSettingsAreStrongerThanThePort() {
    assertEquals(
        Map.of("rpc.port", "9000", "zookeeper.port", "77", "wal.size", "1M"),
        StandaloneCommand.options(9000, Map.of("zookeeper.port", "77", "wal.size", "1M")));
  }

  @Test
  void commandsAreContributed() {
    assertTrue(
        ServiceLoader.load(CommandProvider.class).stream()
            .map(ServiceLoader.Provider::type)
            .anyMatch(ServerCommands.class::equals));
  }
}
