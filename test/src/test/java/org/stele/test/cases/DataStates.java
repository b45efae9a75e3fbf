package org.stele.test.cases;

import org.stele.client.SteleClient;
import org.stele.test.process.StandaloneServer;

/** The states that written data goes through: whoever reads it must get the same answer in each. */
final class DataStates {
  private DataStates() {}

  /** Reads and compares. */
  @FunctionalInterface
  interface Check {
    /**
     * @param state for messages
     */
    void in(SteleClient client, String state) throws Exception;
  }

  /**
   * Makes a check in memory, after {@code kill -9} and replay, after a flush, after a compaction,
   * and after another {@code kill -9}.
   */
  static void visit(StandaloneServer server, Check check, String... tables) throws Exception {
    try (SteleClient client = server.client()) {
      check.in(client, "in memory");
    }
    server.restartAfterKill();
    try (SteleClient client = server.client()) {
      check.in(client, "replayed after kill -9");
      for (String table : tables) {
        client.tables().flush(table);
      }
      check.in(client, "after a flush");
      for (String table : tables) {
        client.tables().compact(table);
      }
      check.in(client, "after a compaction");
    }
    server.restartAfterKill();
    try (SteleClient client = server.client()) {
      check.in(client, "in files after kill -9");
    }
  }
}
