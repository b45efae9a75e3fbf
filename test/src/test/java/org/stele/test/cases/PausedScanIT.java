package org.stele.test.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.client.BatchWriter;
import org.stele.client.Scanner;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.test.check.Conditions;
import org.stele.test.check.ProcessGauges;
import org.stele.test.process.StandaloneServer;

/**
 * A scan that pauses for longer than the server keeps idle connections, and over a restart, goes on
 * exactly behind the last cell it gave: nothing comes twice, nothing is left out, and it does not
 * end before the end.
 */
class PausedScanIT {
  private static final String TABLE = "paused";
  private static final int ROWS = 500;
  private static final int FIRST = 10;
  private static final String ESTABLISHED = "01";
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Map<String, String> SETTINGS = Map.of("rpc.idle.timeout", "300ms");

  @TempDir private Path directory;

  @Test
  void scansGoOnAfterAPauseAndARestart() throws Exception {
    try (StandaloneServer server =
        StandaloneServer.startedShortLived(directory.resolve("data"), new HashMap<>(SETTINGS))) {
      // Clients find ZooKeeper where it was, and the server wherever it is then.
      server.setting("zookeeper.port", port(server.zookeeper()));
      try (SteleClient client = server.client()) {
        client
            .tables()
            .create(
                TABLE,
                TableOptions.defaults()
                    .withSplits(List.of(Bytes.of("r00100"), Bytes.of("r00300"))));
        try (BatchWriter writer = client.batchWriter(TABLE)) {
          for (int i = 0; i < ROWS; i++) {
            writer.add(Mutation.of(row(i)).put("f", "a", "1").put("f", "b", "2"));
          }
        }
        List<PausedScan> scans = new ArrayList<>();
        for (int batchCells : new int[] {1, 3, 7, 0}) {
          scans.add(new PausedScan(client, batchCells));
        }
        awaitIdleConnectionsClosed(server);
        scans.forEach(scan -> scan.read(FIRST));
        server.stop().orFail();
        server.startDirectly();
        scans.forEach(scan -> scan.read(FIRST));
        awaitIdleConnectionsClosed(server);
        server.restartAfterKill();
        scans.forEach(PausedScan::readToEnd);
      }
    }
  }

  private static String row(int number) {
    return String.format("r%05d", number);
  }

  private static String port(String connect) {
    return connect.replaceAll(".*:(\\d+).*", "$1");
  }

  /** The server has ended the connections of this process; its own are opened again and again. */
  private static void awaitIdleConnectionsClosed(StandaloneServer server) {
    int port = server.port();
    long[] most = {0};
    Conditions.await(
        "idle connections are closed",
        LIMIT,
        () -> {
          long now = ProcessGauges.connections(port, ESTABLISHED);
          most[0] = Math.max(most[0], now);
          return now == 0;
        });
    assertTrue(most[0] > 0, "there were connections");
  }

  private static final class PausedScan {
    private final int batchCells;
    private final Iterator<Cell> cells;
    private int next;

    PausedScan(SteleClient client, int batchCells) {
      this.batchCells = batchCells;
      Scanner scanner = client.scanner(TABLE).batchCells(batchCells).open();
      this.cells = scanner.iterator();
      read(FIRST);
    }

    void read(int count) {
      for (int i = 0; i < count; i++) {
        assertTrue(cells.hasNext(), () -> "the scan ended after " + next + " cells");
        Cell cell = cells.next();
        String expected = row(next / 2) + " " + (next % 2 == 0 ? "a" : "b");
        assertEquals(
            expected, cell.row() + " " + cell.qualifier(), () -> "batches of " + batchCells);
        next++;
      }
    }

    void readToEnd() {
      read(2 * ROWS - next);
      assertFalse(cells.hasNext());
    }
  }
}
