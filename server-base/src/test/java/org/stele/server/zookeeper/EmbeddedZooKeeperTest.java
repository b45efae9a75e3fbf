package org.stele.server.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.coordination.ConnectString;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationOptions;
import org.stele.core.coordination.InstanceRecord;
import org.stele.core.coordination.ServerNode;
import org.stele.core.coordination.ServerRecord;
import org.stele.core.time.Clock;
import org.stele.server.metadata.RootTable;

class EmbeddedZooKeeperTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final ServerRecord RECORD = new ServerRecord("host:1", "1", Map.of());

  @TempDir Path temp;

  @Test
  void keepsItsDataAndEndsSessionsOfProcessesThatAreGone() throws Exception {
    Coordination gone;
    String session;
    try (EmbeddedZooKeeper server = start(0)) {
      gone = connect(server);
      gone.initialize(new InstanceRecord("abc", 1), RootTable.initialRoot());
      ServerNode node = gone.createServerNode(RECORD);
      session = node.session();
    }
    try (EmbeddedZooKeeper server = start(0);
        Coordination other = connect(server)) {
      assertEquals(Set.of(session), other.servers(LIMIT).keySet());
      server.endSessionsWithNodesBelow("/stele/servers");
      assertEquals(Set.of(), other.servers(LIMIT).keySet());
      assertEquals(new InstanceRecord("abc", 1), other.readInstance(LIMIT));
    }
    gone.close();
  }

  @Test
  void namesAnAddressThatIsTaken() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      BindException refused =
          assertThrows(BindException.class, () -> start(taken.getLocalPort()).close());
      assertTrue(
          refused.getMessage().contains("127.0.0.1:" + taken.getLocalPort()), refused.getMessage());
    }
  }

  @Test
  void closeIsIdempotent() throws Exception {
    EmbeddedZooKeeper server = start(0);
    int port = server.port();
    server.close();
    server.close();
    start(port).close();
  }

  private EmbeddedZooKeeper start(int port) throws Exception {
    return EmbeddedZooKeeper.start(temp, "127.0.0.1", port, Clock.system());
  }

  private static Coordination connect(EmbeddedZooKeeper server) {
    Coordination coordination =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse("127.0.0.1:" + server.port()), LIMIT, LIMIT),
            Clock.system());
    coordination.awaitConnected(LIMIT);
    return coordination;
  }
}
