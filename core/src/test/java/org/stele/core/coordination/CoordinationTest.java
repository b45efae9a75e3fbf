package org.stele.core.coordination;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.core.coordination.CoordinationException.Reason;
import org.stele.core.data.Bytes;
import org.stele.core.data.Column;
import org.stele.core.time.Clock;

/** Against a ZooKeeper server in this process. */
class CoordinationTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private TestingServer zooKeeper;
  private Coordination coordination;

  @BeforeEach
  void start() throws Exception {
    zooKeeper = new TestingServer(true);
    coordination = connect();
  }

  @AfterEach
  void stop() throws Exception {
    coordination.close();
    zooKeeper.close();
  }

  private Coordination connect() {
    return connect(Clock.system());
  }

  private Coordination connect(Clock clock) {
    Coordination made =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse(zooKeeper.getConnectString() + "/a/b"),
                Duration.ofSeconds(4),
                Duration.ofSeconds(2)),
            clock);
    made.awaitConnected(TIMEOUT);
    return made;
  }

  private static RootRecord root(String value) {
    SortedMap<Column, Bytes> columns = RootRecord.emptyColumns();
    columns.put(Column.of("l", "address"), Bytes.of(value));
    columns.put(Column.of("t", "id"), Bytes.EMPTY);
    return new RootRecord(columns);
  }

  private static void assertReason(Reason reason, Runnable operation) {
    assertEquals(reason, assertThrows(CoordinationException.class, operation::run).reason());
  }

  @Test
  void instanceIsMadeOnce() {
    assertNull(coordination.readInstance(TIMEOUT));
    assertReason(Reason.MISSING, () -> coordination.readRoot(TIMEOUT));
    coordination.initialize(new InstanceRecord("i1", 1), root("one"));
    assertEquals(new InstanceRecord("i1", 1), coordination.readInstance(TIMEOUT));
    assertEquals(new Versioned<>(root("one"), 0), coordination.readRoot(TIMEOUT));
    assertReason(
        Reason.EXISTS, () -> coordination.initialize(new InstanceRecord("i2", 1), root("two")));
    assertEquals(root("one"), coordination.readRoot(TIMEOUT).value());
  }

  @Test
  void rootIsWrittenByVersionAndUnderTheWritersLockOnly() {
    coordination.initialize(new InstanceRecord("i1", 1), root("one"));
    assertReason(Reason.LOCK_LOST, () -> coordination.writeRoot(root("two"), 0, "dead"));
    ServerNode node = coordination.createServerNode(new ServerRecord("h:1", "0.1", Map.of()));
    assertEquals(1, coordination.writeRoot(root("two"), 0, node.session()));
    assertReason(Reason.CONFLICT, () -> coordination.writeRoot(root("three"), 0, node.session()));
    assertEquals(new Versioned<>(root("two"), 1), coordination.readRoot(TIMEOUT));
    node.close();
    assertReason(Reason.LOCK_LOST, () -> coordination.writeRoot(root("four"), 1, node.session()));
  }

  @Test
  void aRenewalThatThrowsGivesThePlaceUpAndSaysWhy() {
    IllegalStateException broken = new IllegalStateException("the clock is broken");
    AtomicBoolean breaks = new AtomicBoolean();
    Clock clock =
        new Clock() {
          @Override
          public long wallMillis() {
            return Clock.system().wallMillis();
          }

          @Override
          public long nanos() {
            if (breaks.get()) {
              throw broken;
            }
            return Clock.system().nanos();
          }
        };
    try (Coordination other = connect(clock)) {
      ServerNode node = other.createServerNode(new ServerRecord("h:1", "0.1", Map.of()));
      assertTrue(node.holdsLease());
      breaks.set(true);
      await().until(node::isLost);
      assertFalse(node.holdsLease());
      assertEquals(broken, node.failure());
      breaks.set(false);
    }
  }

  @Test
  void watchersHearOfRootAndServers() {
    coordination.initialize(new InstanceRecord("i1", 1), root("one"));
    AtomicInteger rootChanges = new AtomicInteger();
    AtomicInteger serverChanges = new AtomicInteger();
    try (Coordination other = connect()) {
      Watch rootWatch = other.watchRoot(rootChanges::incrementAndGet);
      Watch serverWatch = other.watchServers(serverChanges::incrementAndGet);
      await().until(() -> rootChanges.get() > 0 && serverChanges.get() > 0);
      int before = serverChanges.get();
      ServerNode node = coordination.createServerNode(new ServerRecord("h:1", "0.1", Map.of()));
      await().until(() -> serverChanges.get() > before);
      assertEquals(Map.of(node.session(), node.record()), other.servers(TIMEOUT));
      int rootBefore = rootChanges.get();
      coordination.writeRoot(root("two"), 0, node.session());
      await().until(() -> rootChanges.get() > rootBefore);
      rootWatch.close();
      serverWatch.close();
    }
  }

  @Test
  void serversOfEndedSessionsAreGone() {
    coordination.initialize(new InstanceRecord("i1", 1), root("one"));
    Coordination other = connect();
    ServerNode node =
        other.createServerNode(new ServerRecord("h:1", "0.1", Map.of("note", "a\\b\nc")));
    assertTrue(node.holdsLease());
    assertEquals(node.record(), coordination.server(node.session(), TIMEOUT));
    other.close();
    assertEquals(Map.of(), coordination.servers(TIMEOUT));
  }

  @Test
  void removedServerNodeEndsTheLease() {
    coordination.initialize(new InstanceRecord("i1", 1), root("one"));
    try (Coordination other = connect()) {
      ServerNode node = other.createServerNode(new ServerRecord("h:1", "0.1", Map.of()));
      coordination.removeServerNode(node.session());
      coordination.removeServerNode(node.session());
      await().until(node::isLost);
      assertFalse(node.holdsLease());
    }
  }

  @Test
  void leaseIsExtendedWhileZooKeeperAnswersAndEndsWithoutIt() throws Exception {
    coordination.initialize(new InstanceRecord("i1", 1), root("one"));
    ServerNode node = coordination.createServerNode(new ServerRecord("h:1", "0.1", Map.of()));
    long first = node.leaseEndNanos();
    await().until(() -> node.leaseEndNanos() - first > 0);
    zooKeeper.stop();
    await().atMost(TIMEOUT).until(() -> !node.holdsLease());
  }

  @Test
  void firstCandidateLeadsUntilItLeaves() {
    coordination.initialize(new InstanceRecord("i1", 1), root("one"));
    AtomicInteger leading = new AtomicInteger();
    Leadership.Listener listener =
        new Leadership.Listener() {
          @Override
          public void leading() {
            leading.incrementAndGet();
          }

          @Override
          public void notLeading() {
            leading.decrementAndGet();
          }
        };
    try (Coordination other = connect()) {
      Leadership first = coordination.stand("first", listener);
      await().until(first::isLeader);
      Leadership second = other.stand("second", listener);
      assertFalse(second.isLeader());
      first.close();
      await().until(second::isLeader);
      second.close();
      await().until(() -> leading.get() == 0);
    }
  }

  @Test
  void unreachableZooKeeperIsNamed() {
    try (Coordination lost =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse("no-such-host.invalid:1"),
                Duration.ofSeconds(4),
                Duration.ofMillis(200)),
            Clock.system())) {
      CoordinationException e =
          assertThrows(
              CoordinationException.class, () -> lost.awaitConnected(Duration.ofMillis(300)));
      assertEquals(Reason.NO_ANSWER, e.reason());
      assertTrue(e.getMessage().contains("no-such-host.invalid:1/stele"), e.getMessage());
      assertReason(Reason.NO_ANSWER, () -> lost.readRoot(Duration.ofMillis(300)));
    }
  }

  @Test
  void closingDoesNotWaitForAZooKeeperThatIsSilent() throws IOException {
    try (ServerSocket silent = new ServerSocket(0)) {
      Coordination waiting =
          Coordination.start(
              new CoordinationOptions(
                  ConnectString.parse("127.0.0.1:" + silent.getLocalPort()),
                  Duration.ofMinutes(2),
                  Duration.ofMinutes(2)),
              Clock.system());
      assertThrows(
          CoordinationException.class, () -> waiting.awaitConnected(Duration.ofMillis(300)));
      assertTimeout(Duration.ofSeconds(20), waiting::close);
    }
  }

  @Test
  void rootOfAnotherFormatOrDamagedIsRefused() {
    byte[] bytes = root("one").encode();
    assertEquals(root("one"), RootRecord.decode("/root", bytes));
    for (int i = 0; i < bytes.length; i++) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= 0x10;
      assertReason(Reason.MALFORMED, () -> RootRecord.decode("/root", damaged));
    }
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(bytes, length);
      assertReason(Reason.MALFORMED, () -> RootRecord.decode("/root", cut));
    }
    assertReason(Reason.MALFORMED, () -> root("x".repeat(65536)).encode());
  }

  @Test
  void connectStringHasADefaultPath() {
    assertEquals(new ConnectString("a:1,b:2", "/stele"), ConnectString.parse("a:1,b:2"));
    assertEquals(new ConnectString("a:1", "/x/y"), ConnectString.parse("a:1/x/y"));
    assertNotNull(assertThrows(IllegalArgumentException.class, () -> ConnectString.parse("a:1/")));
  }
}
