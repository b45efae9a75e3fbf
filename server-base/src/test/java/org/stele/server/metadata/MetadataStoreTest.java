package org.stele.server.metadata;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.stele.client.location.MetadataSchema;
import org.stele.core.data.Bytes;
import org.stele.core.data.MalformedBytesException;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.server.metadata.MetadataStore.Assignment;
import org.stele.server.metadata.MetadataStore.DeleteRecord;

class MetadataStoreTest {
  private static final TableRecord TABLE =
      new TableRecord("t1", "people", TableRecord.State.ONLINE, Map.of("table.versions", "3"));

  private final MemoryMetadataTable rows = new MemoryMetadataTable();
  private final AtomicInteger nextBatch = new AtomicInteger();
  private final MetadataStore store =
      new MetadataStore(
          rows, new MemoryMetadataTable(), () -> "batch-" + nextBatch.incrementAndGet());

  private final TabletRecord lower =
      TabletRecord.unassigned("a", "t1", null, Bytes.wrap(new byte[] {0, -1, ';'}))
          .assigned("s1", "host:1", 1);
  private final TabletRecord upper =
      TabletRecord.unassigned("b", "t1", Bytes.wrap(new byte[] {0, -1, ';'}), null);

  private long create() {
    long epoch = store.raiseCoordinatorEpoch();
    store.createTable(epoch, TABLE, List.of(lower, upper));
    return epoch;
  }

  @Test
  void readsWhatItWrote() {
    create();
    assertEquals(List.of(TABLE), store.tables());
    assertEquals(List.of(lower, upper), store.tablets());
    assertEquals(List.of(lower, upper), store.tablets("t1"));
    assertEquals(List.of(), store.tablets("t"));
    assertEquals(upper, store.tablet(upper.row()));
    assertEquals(List.of(upper), store.tabletsFrom("t1", Bytes.wrap(new byte[] {0, -1, ';', 0})));
    assertNull(store.table("t2"));
  }

  @Test
  void aNameIsGivenOnce() {
    long epoch = create();
    TableRecord other = new TableRecord("t2", "people", TableRecord.State.ONLINE, Map.of());
    assertEquals(ErrorCode.CONSTRAINT, codeOf(() -> store.createTable(epoch, other, List.of())));
    assertNull(store.table("t2"));
  }

  @Test
  void aNewCoordinatorEndsTheWritesOfTheOldOne() {
    long old = create();
    long next = store.raiseCoordinatorEpoch();
    TabletRecord after = upper.assigned("s2", "host:2", 1);
    Assignment move = new Assignment(upper, after);
    assertEquals(ErrorCode.CONSTRAINT, codeOf(() -> store.assign(old, List.of(move))));
    assertEquals(upper, store.tablet(upper.row()));
    store.assign(next, List.of(move));
    assertEquals(after, store.tablet(upper.row()));
  }

  @Test
  void aMoveNeedsTheLocationItWasDecidedOn() {
    long epoch = create();
    TabletRecord stale = lower.assigned("s0", "host:0", 1);
    assertEquals(
        ErrorCode.CONSTRAINT,
        codeOf(
            () ->
                store.assign(
                    epoch, List.of(new Assignment(stale, stale.assigned("s2", "host:2", 2))))));
  }

  @Test
  void aMoveFromADeadServerAddsItsLogsAndAFlushRemovesThem() {
    long epoch = create();
    TabletRecord after =
        lower.withLogs(List.of(new LogReference("s1", 1))).assigned("s2", "host:2", 2);
    store.assign(epoch, List.of(new Assignment(lower, after)));
    assertEquals(after, store.tablet(lower.row()));
    FileRecord file = new FileRecord("s2-1", 100, 10, 5, -7, null, Bytes.of("x"));
    store.commitFlush(after, file, 77, 1234);
    TabletRecord flushed = store.tablet(lower.row());
    assertEquals(List.of(), flushed.logs());
    assertEquals(List.of(file), flushed.files());
    assertEquals(77, flushed.flushed());
    assertEquals(1234, flushed.timeFloor());
  }

  @Test
  void aFormerOwnerChangesNothing() {
    long epoch = create();
    store.assign(epoch, List.of(new Assignment(lower, lower.assigned("s2", "host:2", 2))));
    FileRecord file = new FileRecord("s1-1", 1, 1, 1, 1, null, null);
    assertEquals(ErrorCode.CONSTRAINT, codeOf(() -> store.commitFlush(lower, file, 1, 1)));
    assertEquals(
        ErrorCode.CONSTRAINT, codeOf(() -> store.commitCompaction(lower, List.of("x"), file, 0)));
  }

  @Test
  void aDroppedFileGetsADeleteRowAndNeverComesBack() {
    create();
    FileRecord one = new FileRecord("s1-1", 1, 1, 1, 1, null, null);
    FileRecord two = new FileRecord("s1-2", 1, 1, 1, 1, null, null);
    store.commitFlush(lower, one, 1, 1);
    store.commitCompaction(lower, List.of("s1-1"), two, 99);
    assertEquals(List.of(two), store.tablet(lower.row()).files());
    assertEquals(List.of(new DeleteRecord("t1", "s1-1", 99)), store.deletes());
    assertEquals(ErrorCode.CONSTRAINT, codeOf(() -> store.commitFlush(lower, one, 1, 1)));
    store.commitDeletion("t1", List.of("s1-1"));
    assertEquals(List.of(), store.deletes());
  }

  @Test
  void aBatchWhoseAnswerIsLostIsDoneOnce() {
    create();
    FileRecord file = new FileRecord("s1-1", 1, 1, 1, 1, null, null);
    rows.loseNextAnswer();
    assertEquals(ErrorCode.UNAVAILABLE, codeOf(() -> store.commitFlush(lower, file, 1, 1)));
    assertEquals(List.of(file), store.tablet(lower.row()).files());
  }

  @Test
  void aDeletedTableGoesInSteps() {
    long epoch = create();
    store.commitFlush(lower, new FileRecord("s1-1", 1, 1, 1, 1, null, null), 1, 1);
    store.beginDeletion(epoch, TABLE);
    assertEquals(TableRecord.State.DELETING, store.table("t1").state());
    assertNull(rows.read(MetadataSchema.nameRow("people")));
    store.dropTablets(epoch, store.tablets("t1"), 5);
    store.dropTablets(epoch, List.of(lower, upper), 5);
    store.endDeletion(epoch, "t1");
    assertEquals(List.of(), store.tablets());
    assertEquals(List.of(), store.tables());
    assertEquals(List.of(new DeleteRecord("t1", "s1-1", 5)), store.deletes());
  }

  @Test
  void refusesReferencesThatAreNone() {
    assertThrows(MalformedBytesException.class, () -> LogReference.parse(Bytes.of("s1")));
    assertThrows(MalformedBytesException.class, () -> LogReference.parse(Bytes.of("s1.x")));
    assertThrows(
        MalformedBytesException.class, () -> FileRecord.decode("f", Bytes.wrap(new byte[] {9})));
  }

  private static ErrorCode codeOf(Runnable operation) {
    return assertThrows(SteleException.class, operation::run).code();
  }
}
