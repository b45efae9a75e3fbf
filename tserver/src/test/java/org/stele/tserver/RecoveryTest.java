package org.stele.tserver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.stele.client.Scanner;
import org.stele.client.ServerStatus;
import org.stele.client.SteleClient;
import org.stele.client.TableOptions;
import org.stele.client.instance.ServerStatusFile;
import org.stele.core.coordination.ConnectString;
import org.stele.core.coordination.Coordination;
import org.stele.core.coordination.CoordinationOptions;
import org.stele.core.data.Bytes;
import org.stele.core.data.Cell;
import org.stele.core.data.Mutation;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CrashableFileStore;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.core.file.FileStore;
import org.stele.core.time.Clock;
import org.stele.server.process.StartException;
import org.stele.server.process.Stop;

/** A whole server on a disk that forgets, fails and lies. */
class RecoveryTest {
  private static final String TABLE = "people";

  @TempDir Path temp;

  private final CrashableFileStore disk = new CrashableFileStore();

  private MiniServer start() throws Exception {
    return MiniServer.start(temp, Map.of(), disk);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void keepsWhatWasAcknowledgedWhenTheMachineStops(long seed) throws Exception {
    MiniServer server = start();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE, splits());
      put(client, 0, 50);
      client.tables().flush(TABLE);
      put(client, 50, 100);
    }
    disk.crash(seed);
    server.crash();
    try (MiniServer again = start();
        SteleClient client = again.client()) {
      assertEquals(rows(100), read(client));
    }
  }

  @Test
  void recoveryMayBeCutOffAgainAndAgain() throws Exception {
    MiniServer server = start();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE, splits());
      put(client, 0, 100);
    }
    server.crash();
    for (int i = 0; i < 5; i++) {
      MiniServer.startAndCrash(temp, disk);
      disk.crash(i);
    }
    try (MiniServer again = start();
        SteleClient client = again.client()) {
      assertEquals(rows(100), read(client));
      put(client, 100, 110);
      assertEquals(rows(110), read(client));
    }
  }

  @Test
  void aFailedSyncIsNotAcknowledgedAndTheServerGoesOnInANewLog() throws Exception {
    MiniServer server = start();
    Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
      for (int round = 1; round <= 3; round++) {
        disk.failAt(Operation.SYNC, "/data/", 5, new IOException("the disk says no"));
        writeFromManyThreads(client, round, acknowledged);
      }
      disk.heal();
    }
    disk.crash(7);
    server.crash();
    try (MiniServer again = start();
        SteleClient client = again.client()) {
      List<String> found = read(client);
      assertTrue(found.containsAll(acknowledged), () -> "of " + acknowledged + " found " + found);
      assertTrue(acknowledged.size() > 100, "acknowledged: " + acknowledged.size());
    }
  }

  private static void writeFromManyThreads(SteleClient client, int round, Set<String> acknowledged)
      throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(8, Thread::new);
    for (int thread = 0; thread < 8; thread++) {
      String prefix = round + "-" + thread + "-";
      threads.execute(
          () -> {
            for (int i = 0; i < 10; i++) {
              try {
                client.write(TABLE, Mutation.of(prefix + i).put("f", "q", "v"));
                acknowledged.add(prefix + i + "=v");
              } catch (SteleException e) {
                assertEquals(ErrorCode.UNKNOWN_OUTCOME, e.code());
              }
            }
          });
    }
    threads.shutdown();
    assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
  }

  @Test
  void endsWhenTheLogIsBrokenForGood() throws Exception {
    MiniServer server = start();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
      disk.failAll(Operation.SYNC, new IOException("the disk is gone"));
      disk.failAll(Operation.CREATE, new IOException("the disk is gone"));
      var unused = client.writeAsync(TABLE, Mutation.of("row").put("f", "q", "v"));
      Stop.Reason reason = server.awaitStop();
      assertTrue(reason.fatal());
      assertTrue(reason.what().contains("write-ahead log wal/"), reason.what());
      disk.heal();
    }
    server.crash();
  }

  @Test
  void aDamagedLogKeepsOnlyItsTabletsOfflineUntilAnOperatorDecides() throws Exception {
    MiniServer server = start();
    String session = server.server().session();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
      client.tables().create("others");
      for (int i = 0; i < 20; i++) {
        client.write(TABLE, Mutation.of(row(i)).put("f", "q", "value-of-" + i + "."));
        client.write("others", Mutation.of(row(i)).put("f", "q", "v" + i));
      }
    }
    server.crash();
    String log = "wal/" + session + "/data/00000001.wal";
    damage(log, "value-of-5.");
    try (MiniServer again = start();
        SteleClient client = again.client()) {
      assertEquals("v7", client.lookup("others", row(7)).get("f", "q"));
      SteleException refused =
          assertThrows(SteleException.class, () -> client.lookup(TABLE, row(7)));
      assertEquals(ErrorCode.CORRUPT, refused.code());
      String fenced = log.replace(session, session + ".fenced");
      assertTrue(refused.getMessage().contains(fenced), refused.getMessage());
      assertEquals(fenced, refused.file());
      assertTrue(disk.exists(fenced));
      SteleException notWritten =
          assertThrows(
              SteleException.class,
              () -> client.write(TABLE, Mutation.of(row(7)).put("f", "q", "new")));
      assertEquals(ErrorCode.CORRUPT, notWritten.code(), notWritten::getMessage);
      assertEquals(fenced, notWritten.file());

      disk.setContents(fenced + ".accepted-loss", new byte[0]);
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .ignoreExceptions()
          .until(() -> client.lookup(TABLE, row(7)).get("f", "q"), "value-of-7."::equals);
      assertTrue(client.lookup(TABLE, row(5)).isEmpty());
    }
  }

  @Test
  void aServerWhoseMetadataIsDamagedSaysSo() throws Exception {
    MiniServer server = start();
    String session = server.server().session();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
      client.tables().create("others");
    }
    server.crash();
    String log = "wal/" + session + "/meta/00000001.wal";
    damage(log, TABLE);
    CompletableFuture<MiniServer> starting = startLater();
    ServerStatusFile status = awaitStatus();
    String fenced = log.replace(session, session + ".fenced");
    try (SteleClient client = SteleClient.connect(status.zookeeper())) {
      ServerStatus answer = client.servers().status(status.address());
      assertFalse(answer.ready());
      assertTrue(
          answer.notReadyReason().contains(fenced + ": damaged at offset"),
          answer.notReadyReason());
    }
    disk.setContents(fenced + ".accepted-loss", new byte[0]);
    starting.get(90, TimeUnit.SECONDS).close();
  }

  private void damage(String path, String what) throws IOException {
    String content = new String(disk.contents(path), java.nio.charset.StandardCharsets.ISO_8859_1);
    int at = content.indexOf(new String(what.getBytes(UTF_8), UTF_8));
    assertTrue(at > 0, what + " is not in " + path);
    disk.flip(path, at, 1);
  }

  @Test
  void endsWhenItsLockNodeIsGone() throws Exception {
    MiniServer server = start();
    try (Coordination other =
        Coordination.start(
            new CoordinationOptions(
                ConnectString.parse(server.connectString()),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10)),
            Clock.system())) {
      other.awaitConnected(Duration.ofSeconds(20));
      other.removeServerNode(server.server().session());
      Stop.Reason reason = server.awaitStop();
      assertTrue(reason.fatal());
      assertTrue(reason.what().contains("lock node"), reason.what());
    }
    server.crash();
  }

  @Test
  void refusesAStoreWhoseZooKeeperIsEmpty() throws Exception {
    start().close();
    Exception refused =
        assertThrows(
            Exception.class, () -> MiniServer.start(temp.resolve("other"), Map.of(), disk).close());
    assertTrue(refused.getMessage().contains("ZooKeeper"), refused.getMessage());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void refusesAStoreThatIsNotTheOneItsTabletsAreIn(boolean inOrder) throws Exception {
    MiniServer server = start();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
      put(client, 0, 20);
    }
    end(server, inOrder);
    CrashableFileStore notMounted = new CrashableFileStore();
    Exception refused =
        assertThrows(
            StartException.class, () -> MiniServer.start(temp, Map.of(), notMounted).close());
    assertTrue(refused.getMessage().contains("holds no data"), refused.getMessage());
    assertEquals(List.of(), names(notMounted, ""));
    try (MiniServer again = start();
        SteleClient client = again.client()) {
      assertEquals(rows(20), read(client));
    }
  }

  private static void end(MiniServer server, boolean inOrder) throws IOException {
    if (inOrder) {
      server.close();
    } else {
      server.crash();
    }
  }

  @Test
  void startsAgainIfItDiedBeforeItHadAnyTablet() throws Exception {
    Exception died =
        assertThrows(
            IOException.class,
            () -> {
              disk.failAt(Operation.CREATE, "INSTANCE", 1, new IOException("the power is gone"));
              start();
            });
    assertTrue(died.getMessage().contains("the power is gone"), died.getMessage());
    start().close();
  }

  @Test
  void logsThatAreNotThereAreNotTakenForNone() throws Exception {
    MiniServer server = start();
    String logs = "wal/" + server.server().session();
    try (SteleClient client = server.client()) {
      client.tables().create(TABLE);
      put(client, 0, 20);
    }
    server.crash();
    disk.rename(logs, "elsewhere");
    CompletableFuture<MiniServer> starting = startLater();
    ServerStatusFile status = awaitStatus();
    try (SteleClient client = SteleClient.connect(status.zookeeper())) {
      ServerStatus answer = client.servers().status(status.address());
      assertFalse(answer.ready());
      assertTrue(answer.notReadyReason().contains(logs + ".fenced"), answer.notReadyReason());
    }
    disk.rename("elsewhere", logs);
    try (MiniServer again = starting.get(90, TimeUnit.SECONDS);
        SteleClient client = again.client()) {
      assertEquals(rows(20), read(client));
    }
  }

  private CompletableFuture<MiniServer> startLater() {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return start();
          } catch (Exception e) {
            throw new CompletionException(e);
          }
        });
  }

  private ServerStatusFile awaitStatus() {
    return Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> ServerStatusFile.read(temp), found -> found != null);
  }

  @Test
  void leavesNoFileOpen() throws Exception {
    String session;
    try (MiniServer server = start();
        SteleClient client = server.client()) {
      session = server.server().session();
      client.tables().create(TABLE, splits());
      put(client, 0, 50);
      client.tables().flush(TABLE);
      put(client, 50, 100);
      client.tables().compact(TABLE);
      assertEquals(rows(100), read(client));
    }
    disk.assertNoOpenHandles();
    assertEquals(List.of(session + ".fenced"), names(disk, "wal"));
    assertEquals(List.of(), names(disk, "wal/" + session + ".fenced"));
    String second;
    try (MiniServer server = start()) {
      second = server.server().session();
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> names(disk, "wal"), List.of(second)::equals);
    }
    assertEquals(List.of(second + ".fenced"), names(disk, "wal"));
  }

  private static List<String> names(FileStore store, String directory) throws IOException {
    return store.list(directory).stream().map(FileStore.Entry::name).toList();
  }

  private static TableOptions splits() {
    return TableOptions.defaults().withSplits(List.of(Bytes.of("g"), Bytes.of("p")));
  }

  private static void put(SteleClient client, int from, int to) {
    for (int i = from; i < to; i++) {
      client.write(TABLE, Mutation.of(row(i)).put("f", "q", "v" + i));
    }
  }

  private static String row(int i) {
    return (char) ('a' + i % 26) + String.format("%05d", i);
  }

  private static List<String> rows(int count) {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(row(i) + "=v" + i);
    }
    rows.sort(null);
    return rows;
  }

  private static List<String> read(SteleClient client) {
    List<String> rows = new ArrayList<>();
    try (Scanner scanner = client.scanner(TABLE).open()) {
      for (Cell cell : scanner) {
        rows.add(cell.row() + "=" + cell.value());
      }
    }
    return rows;
  }
}
