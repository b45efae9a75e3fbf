package org.stele.tserver.coordinator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.ManualClock;
import org.stele.server.metadata.FileRecord;
import org.stele.server.metadata.LogReference;
import org.stele.server.metadata.MemoryMetadataTable;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.MetadataStore.DeleteRecord;
import org.stele.server.metadata.RootTable;
import org.stele.server.metadata.TableRecord;
import org.stele.server.metadata.TabletRecord;

/** The coordinator's decisions, without threads, against servers that only keep books. */
@SuppressWarnings(
    "FutureReturnValueIgnored") // what the reconciler did is looked at, not its answers
class ReconcilerTest {
  private final MemoryMetadataTable rows = new MemoryMetadataTable();
  private final MemoryMetadataTable root = new MemoryMetadataTable();
  private final ManualClock clock = new ManualClock();
  private final Map<String, String> live = new TreeMap<>();
  private final Servers servers = new Servers();
  private final Logs logs = new Logs();
  private final Files files = new Files();
  private int nextId;
  private MetadataStore store;
  private Reconciler reconciler;

  @BeforeEach
  void makeInstance() {
    store = new MetadataStore(rows, root, () -> "batch-" + nextId++);
    root.putRow(RootTable.ROW, RootTable.initialRoot().columns());
    reconciler = newReconciler();
    live.put("s1", "host:1");
  }

  private Reconciler newReconciler() {
    return new Reconciler(store, () -> live, servers, logs, files, () -> "id-" + nextId++, clock);
  }

  /** Passes until all is settled. */
  private void settle(Reconciler coordinator) throws IOException {
    for (int i = 0; i < 20; i++) {
      if (coordinator.pass() == PassResult.SETTLED) {
        return;
      }
    }
    throw new AssertionError("not settled");
  }

  private CompletableFuture<String> create(String name, String... splits) {
    CompletableFuture<String> result = new CompletableFuture<>();
    reconciler.ask(
        new TableOperation.Create(
            name,
            java.util.stream.Stream.of(splits).map(Bytes::of).toList(),
            Map.of(),
            clock.nanos() + Duration.ofMinutes(1).toNanos(),
            result));
    return result;
  }

  private CompletableFuture<String> delete(String name) {
    CompletableFuture<String> result = new CompletableFuture<>();
    reconciler.ask(
        new TableOperation.Delete(name, clock.nanos() + Duration.ofMinutes(1).toNanos(), result));
    return result;
  }

  @Test
  void servesTheMetadataFirst() throws IOException {
    assertEquals(PassResult.WAITING, reconciler.pass());
    assertEquals("s1", store.rootTablet().session());
    assertEquals(1, store.rootTablet().epoch());
    assertEquals(0, rows.batches());
    settle(reconciler);
    assertTrue(servers.isOpen("host:1", MetadataSchema.TABLET_ID));
    assertEquals(1, rows.batches());
  }

  @Test
  void answersACreationWhenAllTabletsAreOpen() throws IOException {
    settle(reconciler);
    CompletableFuture<String> made = create("people", "g", "p");
    servers.openings = false;
    reconciler.pass();
    reconciler.pass();
    assertFalse(made.isDone());
    assertEquals(3, store.tablets(store.tables().get(0).id()).size());
    servers.openings = true;
    settle(reconciler);
    assertEquals(store.tables().get(0).id(), made.join());
  }

  @Test
  void spreadsTabletsEvenly() throws IOException {
    live.put("s2", "host:2");
    settle(reconciler);
    create("people", "b", "c", "d");
    settle(reconciler);
    Map<String, Integer> perSession = new HashMap<>();
    store.tablets().forEach(tablet -> perSession.merge(tablet.session(), 1, Integer::sum));
    assertEquals(Map.of("s1", 2, "s2", 2), perSession);
  }

  @Test
  void refusesWhatIsThereAndWhatIsNot() throws IOException {
    settle(reconciler);
    create("people");
    CompletableFuture<String> again = create("people");
    CompletableFuture<String> missing = delete("nothing");
    CompletableFuture<String> other = create("other");
    settle(reconciler);
    assertEquals(ErrorCode.TABLE_EXISTS, codeOf(again));
    assertEquals(ErrorCode.UNKNOWN_TABLE, codeOf(missing));
    other.join();
  }

  @Test
  void givesTheTabletsOfADeadServerAwayAfterFencingWithItsLogs() throws IOException {
    settle(reconciler);
    create("people", "g");
    settle(reconciler);
    live.remove("s1");
    live.put("s2", "host:2");
    settle(reconciler);
    assertEquals(Set.of("s1"), logs.fenced);
    for (TabletRecord tablet : store.tablets()) {
      assertEquals("s2", tablet.session());
      assertEquals(2, tablet.epoch());
      assertEquals(List.of(new LogReference("s1", 1)), tablet.logs());
      assertTrue(servers.isOpen("host:2", tablet.tabletId()));
    }
    assertEquals(List.of(new LogReference("s1", 1)), store.rootTablet().logs());
  }

  @Test
  void addsNoReferenceToLogsThatAreNotThere() throws IOException {
    settle(reconciler);
    create("people");
    settle(reconciler);
    logs.left = false;
    live.remove("s1");
    live.put("s2", "host:2");
    settle(reconciler);
    assertEquals(List.of(), store.tablets().get(0).logs());
    assertEquals(List.of(), store.rootTablet().logs());
  }

  @Test
  void waitsWhileNoServerLives() throws IOException {
    live.clear();
    assertEquals(PassResult.WAITING, reconciler.pass());
    assertEquals(0, root.batches() - 1);
  }

  @Test
  void aNewCoordinatorGoesOnWhereTheOldOneStopped() throws IOException {
    settle(reconciler);
    create("people", "g");
    servers.openings = false;
    reconciler.pass();
    Reconciler next = newReconciler();
    servers.openings = true;
    settle(next);
    store.tablets().forEach(tablet -> assertTrue(servers.isOpen("host:1", tablet.tabletId())));
    create("other");
    assertEquals(
        ErrorCode.CONSTRAINT, assertThrows(SteleException.class, () -> reconciler.pass()).code());
  }

  @Test
  void aDeletedTableIsClosedAndItsRowsGo() throws IOException {
    settle(reconciler);
    create("people", "g");
    settle(reconciler);
    TabletRecord tablet = store.tablets().get(0);
    store.commitFlush(
        tablet, new org.stele.server.metadata.FileRecord("s1-1", 1, 1, 1, 1, null, null), 1, 1);
    CompletableFuture<String> deleted = delete("people");
    settle(reconciler);
    assertEquals(tablet.tableId(), deleted.join());
    assertEquals(List.of(), store.tables());
    assertEquals(List.of(), store.tablets());
    assertFalse(servers.isOpen("host:1", tablet.tabletId()));
    assertEquals(List.of("s1-1"), files.collected);
    CompletableFuture<String> again = create("people");
    settle(reconciler);
    assertNotEquals(tablet.tableId(), again.join());
  }

  @Test
  void aDeletionThatWasCutOffIsFinishedByTheNext() throws IOException {
    settle(reconciler);
    create("people");
    settle(reconciler);
    servers.failCloses = true;
    CompletableFuture<String> deleted = delete("people");
    assertEquals(PassResult.WAITING, reconciler.pass());
    assertFalse(deleted.isDone());
    servers.failCloses = false;
    settle(newReconciler());
    assertEquals(List.of(), store.tablets());
  }

  @Test
  void aTabletThatIsNotClosedHoldsUpNoOtherOperation() throws IOException {
    settle(reconciler);
    create("people");
    settle(reconciler);
    servers.failCloses = true;
    CompletableFuture<String> deleted = delete("people");
    CompletableFuture<String> made = create("others");
    int batches = rows.batches();
    for (int i = 0; i < 5; i++) {
      assertEquals(PassResult.WAITING, reconciler.pass());
    }
    assertTrue(made.isDone());
    assertFalse(deleted.isDone());
    assertEquals(batches + 2, rows.batches(), "the deletion and the creation, and nothing anew");
    servers.failCloses = false;
    settle(reconciler);
    assertTrue(deleted.isDone());
  }

  @Test
  void aServerThatDoesNotAnswerHoldsUpNoOther() throws IOException {
    settle(reconciler);
    live.put("s2", "host:2");
    servers.silent.add("host:2");
    create("people", "g");
    CompletableFuture<String> other = create("other");
    for (int i = 0; i < 5; i++) {
      assertEquals(PassResult.WAITING, reconciler.pass());
    }
    String tablet =
        store.tablets().stream()
            .filter(one -> one.session().equals("s1"))
            .findFirst()
            .orElseThrow()
            .tabletId();
    assertTrue(servers.isOpen("host:1", tablet));
    servers.silent.clear();
    settle(reconciler);
    assertTrue(other.isDone());
  }

  @Test
  void aNameThatItDidNotKnowOfIsTaken() throws IOException {
    settle(reconciler);
    store.createTable(
        store.coordinatorEpoch(),
        new TableRecord("t9", "people", TableRecord.State.ONLINE, Map.of()),
        List.of());
    CompletableFuture<String> made = create("people");
    assertThrows(SteleException.class, () -> reconciler.pass());
    assertEquals(ErrorCode.TABLE_EXISTS, codeOf(made));
  }

  @Test
  void whoAskedACoordinatorOfBeforeHearsThatThereIsAnother() throws IOException {
    settle(reconciler);
    settle(newReconciler());
    CompletableFuture<String> made = create("people");
    assertThrows(SteleException.class, () -> reconciler.pass());
    assertEquals(ErrorCode.UNAVAILABLE, codeOf(made));
    assertTrue(messageOf(made).contains("another server became coordinator"), messageOf(made));
  }

  @Test
  void boundsTheOperationsThatHaveNoAnswer() {
    live.clear();
    Coordinator coordinator =
        new Coordinator(
            store,
            () -> live,
            servers,
            logs,
            files,
            Duration.ofMinutes(1),
            () -> "id-" + nextId++,
            clock,
            listener -> {
              throw new AssertionError("it is not started");
            });
    coordinator.setLeading(true);
    long deadline = clock.nanos() + Duration.ofMinutes(1).toNanos();
    List<CompletableFuture<String>> asked = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      asked.add(coordinator.createTable("table" + i, List.of(), Map.of(), deadline));
      if (i % 100 == 0) {
        coordinator.step();
      }
    }
    assertTrue(asked.stream().noneMatch(CompletableFuture::isDone));
    CompletableFuture<String> one = coordinator.deleteTable("table1", deadline);
    assertEquals(ErrorCode.BUSY, codeOf(one));
    clock.advance(Duration.ofMinutes(2));
    coordinator.step();
    assertEquals(ErrorCode.DEADLINE_EXCEEDED, codeOf(asked.get(0)));
    assertFalse(coordinator.deleteTable("table1", clock.nanos() + deadline).isDone());
    coordinator.close();
  }

  @Test
  void anOperationEndsAtItsDeadline() throws IOException {
    settle(reconciler);
    servers.openings = false;
    CompletableFuture<String> made = create("people");
    reconciler.pass();
    clock.advance(Duration.ofMinutes(2));
    reconciler.pass();
    assertEquals(ErrorCode.DEADLINE_EXCEEDED, codeOf(made));
  }

  @Test
  void aTabletThatCannotBeOpenedBlocksNoOther() throws IOException {
    settle(reconciler);
    create("people", "g");
    settle(reconciler);
    servers.damaged.add(store.tablets().get(0).tabletId());
    live.remove("s1");
    live.put("s2", "host:2");
    settle(reconciler);
    assertTrue(servers.isOpen("host:2", store.tablets().get(1).tabletId()));
    assertEquals(
        TabletStatus.State.FAILED,
        reconciler.statuses().get(store.tablets().get(0).tabletId()).state());
  }

  @Test
  void aTabletThatIsNoLongerOpenIsOpenedAgain() throws IOException {
    settle(reconciler);
    create("people");
    settle(reconciler);
    servers.tablets.get("host:1").clear();
    clock.advance(Duration.ofMinutes(1));
    settle(reconciler);
    assertTrue(servers.isOpen("host:1", store.tablets().get(0).tabletId()));
  }

  @Test
  void logsGoWhenNoTabletNeedsThem() throws IOException {
    settle(reconciler);
    create("people");
    settle(reconciler);
    live.remove("s1");
    live.put("s2", "host:2");
    settle(reconciler);
    LeftoverSweep sweep = sweep();
    TabletRecord tablet = store.tablets().get(0);
    files.add(tablet.tableId(), "s1-1");
    sweep.run();
    assertEquals(Set.of("s1"), logs.fenced);
    store.commitFlush(tablet, null, 1, 1);
    sweep.run();
    assertEquals(Set.of("s1"), logs.fenced);
    assertEquals(List.of(), files.cleaned);
    store.commitFlush(store.rootTablet(), null, 1, 1);
    sweep.run();
    assertEquals(Set.of(), logs.fenced);
    assertEquals(List.of("s1-1"), files.cleaned);
  }

  private LeftoverSweep sweep() {
    return new LeftoverSweep(store, () -> live, logs, files, clock);
  }

  @Test
  void filesThatNobodyListsGoAlsoWhenNoLogsAreLeftOfTheirServer() throws IOException {
    settle(reconciler);
    create("people");
    settle(reconciler);
    TabletRecord tablet = store.tablets().get(0);
    LeftoverSweep sweep = sweep();
    sweep.run();
    store.commitFlush(tablet, file("gone-1"), 1, 1);
    for (String file : List.of("gone-1", "gone-2", "s1-1")) {
      files.add(tablet.tableId(), file);
    }
    sweep.run();
    assertEquals(List.of(), files.cleaned, "it is not time yet");
    clock.advance(Duration.ofMinutes(11));
    sweep.run();
    assertEquals(List.of("gone-2"), files.cleaned, "the one that is not listed, of a dead server");
  }

  private static FileRecord file(String fileId) {
    return new FileRecord(fileId, 1, 1, 1, 1, null, null);
  }

  @Test
  void theDirectoryOfADeletedTableGoesWhenItIsEmpty() throws IOException {
    settle(reconciler);
    create("people");
    settle(reconciler);
    TabletRecord tablet = store.tablets().get(0);
    store.commitFlush(tablet, file("s1-1"), 1, 1);
    files.add(tablet.tableId(), "s1-1");
    files.stored.put(MetadataSchema.TABLE_ID, new ArrayList<>());
    delete("people");
    settle(reconciler);
    LeftoverSweep sweep = sweep();
    sweep.run();
    assertEquals(Set.of(tablet.tableId(), MetadataSchema.TABLE_ID), files.stored.keySet());
    files.stored.get(tablet.tableId()).clear();
    store.commitDeletion(tablet.tableId(), List.of("s1-1"));
    clock.advance(Duration.ofMinutes(11));
    sweep.run();
    assertEquals(Set.of(MetadataSchema.TABLE_ID), files.stored.keySet());
  }

  private static String messageOf(CompletableFuture<String> result) {
    return assertThrows(CompletionException.class, result::join).getCause().getMessage();
  }

  private static ErrorCode codeOf(CompletableFuture<String> result) {
    CompletionException failure = assertThrows(CompletionException.class, result::join);
    return ((SteleException) failure.getCause()).code();
  }

  /** Opens and closes by the book. */
  private static final class Servers implements TabletCommands {
    final Map<String, Map<String, TabletStatus>> tablets = new HashMap<>();
    final Set<String> damaged = new HashSet<>();
    boolean openings = true;
    final Set<String> silent = new HashSet<>();
    boolean failCloses;

    private Map<String, TabletStatus> of(String address) {
      return tablets.computeIfAbsent(address, any -> new HashMap<>());
    }

    boolean isOpen(String address, String tabletId) {
      TabletStatus status = of(address).get(tabletId);
      return status != null && status.isOpen();
    }

    @Override
    public void open(String address, List<String> tabletIds) {
      for (String tabletId : tabletIds) {
        TabletStatus.State state =
            damaged.contains(tabletId)
                ? TabletStatus.State.FAILED
                : openings ? TabletStatus.State.OPEN : TabletStatus.State.OPENING;
        of(address).put(tabletId, new TabletStatus(state, ""));
      }
    }

    @Override
    public void close(String address, String tabletId, boolean flush) {
      if (!failCloses) {
        of(address).remove(tabletId);
      }
    }

    @Override
    public Map<String, TabletStatus> states(String address) {
      if (silent.contains(address)) {
        throw new SteleException(ErrorCode.UNAVAILABLE, "the server does not answer");
      }
      if (openings) {
        of(address)
            .replaceAll(
                (tabletId, status) ->
                    status.state() == TabletStatus.State.OPENING
                        ? new TabletStatus(TabletStatus.State.OPEN, "")
                        : status);
      }
      return Map.copyOf(of(address));
    }
  }

  private static final class Logs implements LogFence {
    final Set<String> fenced = new HashSet<>();
    boolean left = true;

    @Override
    public FencedLogs fence(String session) {
      fenced.add(session);
      return new FencedLogs(left, left);
    }

    @Override
    public List<String> fencedSessions() {
      return List.copyOf(fenced);
    }

    @Override
    public void delete(String session) {
      fenced.remove(session);
    }
  }

  private static final class Files implements Leftovers {
    final List<String> collected = new ArrayList<>();
    final List<String> cleaned = new ArrayList<>();
    final Map<String, List<StoredFile>> stored = new TreeMap<>();

    void add(String tableId, String fileId) {
      String session = fileId.substring(0, fileId.indexOf('-'));
      stored
          .computeIfAbsent(tableId, any -> new ArrayList<>())
          .add(new StoredFile(tableId, fileId + ".sf", fileId, session));
    }

    @Override
    public void collect(DeleteRecord file) {
      collected.add(file.fileId());
    }

    @Override
    public List<String> tables() {
      return List.copyOf(stored.keySet());
    }

    @Override
    public List<StoredFile> files(String tableId) {
      return List.copyOf(stored.getOrDefault(tableId, List.of()));
    }

    @Override
    public void deleteUnlisted(StoredFile file) {
      cleaned.add(file.fileId());
      stored.getOrDefault(file.tableId(), List.of()).remove(file);
    }

    @Override
    public void deleteDirectory(String tableId) {
      if (stored.getOrDefault(tableId, List.of()).isEmpty()) {
        stored.remove(tableId);
      }
    }
  }
}
