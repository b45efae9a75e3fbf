package org.stele.server.zookeeper;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.stele.core.time.Clock;

@SuppressWarnings("try")
class EmbeddedZooKeeperTest {
  @TempDir Path temp;

  @Test
  void keepsItsDataAndEndsSessionsOfProcessesThatAreGone() throws Exception {
    ZooKeeper client;
    try (EmbeddedZooKeeper server = start(0)) {
      client = connect(server.port());
      client.create("/servers", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      client.create("/servers/x", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    }
    try (EmbeddedZooKeeper server = start(0);
        ZooKeeper other = connect(server.port())) {
      assertNotNull(other.exists("/servers/x", false));
      server.endSessionsWithNodesBelow("/servers");
      assertNull(other.exists("/servers/x", false));
      assertNotNull(other.exists("/servers", false));
    }
    client.close();
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

  private static ZooKeeper connect(int port) throws Exception {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            "127.0.0.1:" + port,
            60_000,
            event -> {
              if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    connected.await();
    return client;
  }
}
