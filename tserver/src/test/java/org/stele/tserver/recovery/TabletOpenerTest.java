package org.stele.tserver.recovery;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.stele.core.data.Bytes;
import org.stele.core.data.Range;
import org.stele.core.data.Row;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.file.CrashableFileStore.Hold;
import org.stele.core.file.CrashableFileStore.Operation;
import org.stele.server.metadata.LogReference;
import org.stele.server.metadata.MemoryMetadataTable;
import org.stele.server.metadata.MetadataBatch;
import org.stele.server.metadata.MetadataStore;
import org.stele.server.metadata.MetadataTable;
import org.stele.server.metadata.TableRecord;
import org.stele.server.metadata.TabletRecord;
import org.stele.tserver.coordinator.TabletStatus.State;
import org.stele.tserver.tablet.TabletEnvironment;
import org.stele.tserver.tablet.TabletFixture;
import org.stele.tserver.tablet.TabletMap;

/** A tablet that is given to a server, with metadata and a disk that fail. */
class TabletOpenerTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String SESSION = "5e55ab1e";
  private static final String DEAD = "dead";
  private static final String DEAD_LOGS = "wal/" + DEAD + ".fenced/data";

  private final MemoryMetadataTable rows = new MemoryMetadataTable();
  private final TabletMap tablets = new TabletMap();
  private final OwnedTablets owned = new OwnedTablets();
  private int nextBatch;
  private TabletFixture engine;
  private MetadataStore store;
  private TabletRecord row;
  private TabletOpener opener;

  @BeforeEach
  void giveATabletThatWasOnADeadServer() throws IOException {
    engine = new TabletFixture(new TabletFixture.Options());
    engine.store.makeDirectory(DEAD_LOGS);
    store = new MetadataStore(rows, new MemoryMetadataTable(), () -> "batch-" + nextBatch++);
    long epoch = store.raiseCoordinatorEpoch();
    TabletRecord before =
        TabletRecord.unassigned("tablet2", "t2", null, null).assigned(DEAD, "host:1", 1);
    store.createTable(
        epoch,
        new TableRecord("t2", "people", TableRecord.State.ONLINE, Map.of()),
        List.of(before));
    row = before.withLogs(List.of(new LogReference(DEAD, 1))).assigned(SESSION, "host:2", 2);
    store.assign(epoch, List.of(new MetadataStore.Assignment(before, row)));
    opener = opener(store);
  }

  private TabletOpener opener(MetadataStore metadata) {
    TabletEnvironment environment =
        new TabletEnvironment(
            engine.clock,
            engine.files,
            new MetadataFileCatalog(metadata, owned, engine.clock),
            engine.log,
            engine.memory,
            1 << 20,
            engine.flusher);
    return new TabletOpener(
        SESSION,
        metadata,
        engine.store,
        new LogDirectories(engine.store, path -> {}),
        owned,
        tablets,
        new TabletOpener.Parts(environment, environment, engine.flusher, engine.compactor));
  }

  @AfterEach
  void end() throws Exception {
    engine.store.heal();
    opener.close();
    if (owned.get("tablet2") != null) {
      opener.close("tablet2", false).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
    engine.close();
  }

  @Nullable State state() {
    return owned.statuses().containsKey("tablet2") ? owned.statuses().get("tablet2").state() : null;
  }

  private void awaitState(@Nullable State expected) {
    Awaitility.await().atMost(LIMIT).until(this::state, state -> state == expected);
  }

  @Test
  void aFailedWriteToTheMetadataDoesNotUndoAnOpening() {
    rows.loseNextAnswer();
    opener.open(List.of("tablet2"));
    awaitState(State.OPEN);
    Awaitility.await()
        .atMost(LIMIT)
        .until(
            () -> {
              engine.flusher.runOnce();
              return store.tablet(row.row()).logs().isEmpty();
            });
    assertEquals(State.OPEN, state());
    opener.close("tablet2", false).join();
    assertNull(tablets.get("tablet2"));
    assertNull(state());
  }

  @Test
  void aTabletIsNotClosedWhileItIsBeingOpenedAgain() {
    Hold again = engine.store.holdAt(Operation.LIST, DEAD_LOGS, 2);
    engine.store.failAt(Operation.LIST, DEAD_LOGS, 1, new IOException("the disk says no"));
    opener.open(List.of("tablet2"));
    again.awaitReached();
    assertTrue(reason().contains("the disk says no"), this::reason);
    CompletableFuture<Void> refused = opener.close("tablet2", false);
    again.release();
    CompletionException failure = assertThrows(CompletionException.class, refused::join);
    assertEquals(ErrorCode.UNAVAILABLE, ((SteleException) failure.getCause()).code());
    awaitState(State.OPEN);
    opener.close("tablet2", false).join();
    assertNull(tablets.get("tablet2"));
  }

  @Test
  void aTabletIsNotOpenedWithoutTheLogsOfItsFormerServer() throws IOException {
    engine.store.rename("wal/dead.fenced", "elsewhere");
    opener.open(List.of("tablet2"));
    awaitState(State.FAILED);
    assertTrue(reason().contains("wal/dead.fenced"), this::reason);
    engine.store.rename("elsewhere", "wal/dead"); // as it was before it was fenced
    awaitState(State.OPEN);
    assertTrue(engine.store.exists("wal/dead.fenced"));
  }

  @Test
  void anOperatorAcceptsThatLogsAreGoneByAnEmptyDirectory() throws IOException {
    engine.store.rename("wal/dead.fenced", "elsewhere");
    opener.open(List.of("tablet2"));
    awaitState(State.FAILED);
    engine.store.makeDirectory("wal/dead.fenced");
    awaitState(State.OPEN);
  }

  private String reason() {
    return owned.statuses().get("tablet2").reason();
  }

  @Test
  void aTabletThatIsClosedBetweenTwoAttemptsIsNotOpened() throws Exception {
    HeldReads held = new HeldReads(rows);
    opener = opener(new MetadataStore(held, rows, () -> "batch-" + nextBatch++));
    engine.store.failAt(Operation.LIST, DEAD_LOGS, 1, new IOException("the disk says no"));
    opener.open(List.of("tablet2"));
    held.reached.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    opener.close("tablet2", false).join();
    OwnedTablet other = owned.add("tablet2");
    held.released.complete(null);
    opener.close();
    assertNull(tablets.get("tablet2"));
    assertNotNull(other);
    assertEquals(other, owned.get("tablet2"));
    owned.remove(other);
  }

  @Test
  void anErrorWhileOpeningIsNotSwallowed() throws Exception {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> told.complete(failure));
    try {
      LinkageError error = new UnsatisfiedLinkError("no zstd in java.library.path");
      opener = opener(new MetadataStore(new BrokenReads(error), rows, () -> "no batch"));
      opener.open(List.of("tablet2"));
      assertEquals(error, told.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
      owned.remove(requireNonNull(owned.get("tablet2")));
    }
  }

  /** Rows whose single reads wait. */
  private record HeldReads(
      MetadataTable table, CompletableFuture<Void> reached, CompletableFuture<Void> released)
      implements MetadataTable {
    HeldReads(MetadataTable table) {
      this(table, new CompletableFuture<>(), new CompletableFuture<>());
    }

    @Override
    public @Nullable Row read(Bytes row) {
      reached.complete(null);
      released.join();
      return table.read(row);
    }

    @Override
    public List<Row> scan(Range range) {
      return table.scan(range);
    }

    @Override
    public void apply(MetadataBatch batch) {
      table.apply(batch);
    }
  }

  /** Rows that cannot be read, for a reason that is no exception. */
  private record BrokenReads(Error error) implements MetadataTable {
    @Override
    public @Nullable Row read(Bytes row) {
      throw error;
    }

    @Override
    public List<Row> scan(Range range) {
      throw error;
    }

    @Override
    public void apply(MetadataBatch batch) {
      throw error;
    }
  }
}
