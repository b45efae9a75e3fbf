package org.stele.server.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
  private final CountDownLatch failed = new CountDownLatch(1);

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
  void leavesTheHandlerOfUncaughtExceptionsAlone() throws Exception {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.UncaughtExceptionHandler ours = (thread, failure) -> {};
    Thread.setDefaultUncaughtExceptionHandler(ours);
    try {
      start(0).close();
      assertSame(ours, Thread.getDefaultUncaughtExceptionHandler());
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  @Test
  void tellsWhenItCannotWrite() throws Exception {
    EmbeddedZooKeeper server = start(0);
    Files.move(temp.resolve("version-2"), temp.resolve("elsewhere"));
    Files.createFile(temp.resolve("version-2")); // no directory
    Coordination client = beginToConnect(server); // its session is the first write
    assertTrue(failed.await(60, TimeUnit.SECONDS));
    server.close();
    client.close();
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
    return EmbeddedZooKeeper.start(temp, "127.0.0.1", port, Clock.system(), failed::countDown);
  }

  private static Coordination connect(EmbeddedZooKeeper server) {
    Coordination coordination = beginToConnect(server);
    coordination.awaitConnected(LIMIT);
    return coordination;
  }

  private static Coordination beginToConnect(EmbeddedZooKeeper server) {
    return Coordination.start(
        new CoordinationOptions(ConnectString.parse("127.0.0.1:" + server.port()), LIMIT, LIMIT),
        Clock.system());
  }
}
