package org.stele.tserver.write;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.stele.core.data.ByteWriter;
import org.stele.core.data.CellType;
import org.stele.core.data.Durability;
import org.stele.core.data.KeyCodec;
import org.stele.core.data.Mutation;
import org.stele.core.data.Update;
import org.stele.core.data.WriterStamp;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;
import org.stele.tserver.wal.LogCells;
import org.stele.tserver.wal.LogEntry;

/**
 * The mutations of one request for one tablet: one record of the log, visible at once. Keys are
 * encoded when there is memory for them (each has the row, which the request has once); sequence
 * and timestamps are put into them when the log places the record.
 *
 * <p>Filled by the thread that took the request, then handed to the log's threads in turn. Owns its
 * share of the memory budget until the target has applied it.
 */
public final class TabletWrite implements LogEntry {
  private static final byte[] NO_VALUE = {};

  private final WriteTarget target;
  private final PendingBatch batch;
  private final WriteStage.Settlement settlement;
  private final Clock clock;
  private final BooleanSupplier leaseHeld;

  // Filled by the thread that took the request.
  private List<Mutation> given = new ArrayList<>(1);
  private int[] indexes = new int[1];
  private int cells;
  private int mutations;
  private int encodedBytes;
  private long memoryBytes;

  // Written by the thread that let the write in.
  private byte[][] keys = {};
  private byte[][] values = {};
  private boolean[] ownTime = {};

  // Written by wal-sync.
  private boolean placed;
  private long firstSequence;
  private long serverTime = NO_TIME;

  /** Written by wal-apply: the target has it, or a part of it if it could not be applied. */
  private boolean handedOver;

  TabletWrite(
      WriteTarget target,
      PendingBatch batch,
      WriteStage.Settlement settlement,
      Clock clock,
      BooleanSupplier leaseHeld) {
    this.target = target;
    this.batch = batch;
    this.settlement = settlement;
    this.clock = clock;
    this.leaseHeld = leaseHeld;
  }

  /** Adds a mutation, which is at {@code index} of the request. */
  void add(int index, Mutation mutation) {
    if (mutations == indexes.length) {
      indexes = Arrays.copyOf(indexes, 2 * mutations);
    }
    indexes[mutations++] = index;
    given.add(mutation);
    int rowPartLength = KeyCodec.partLength(mutation.row());
    for (Update update : mutation.updates()) {
      int keyLength =
          KeyCodec.encodedLength(
              rowPartLength,
              update.family(),
              update.qualifier(),
              update.visibility(),
              update.type());
      int valueLength = value(update).length;
      encodedBytes = Math.addExact(encodedBytes, keyLength + valueLength);
      memoryBytes += settlement.memoryBytes(keyLength, valueLength);
      cells++;
    }
  }

  private static byte[] value(Update update) {
    return update.type() == CellType.PUT ? update.value().unsafeArray() : NO_VALUE;
  }

  /** Ends the filling. */
  void complete() {
    indexes = Arrays.copyOf(indexes, mutations);
  }

  /** Makes the cells of the mutations, which are let go; when their memory has been reserved. */
  void encodeCells() {
    keys = new byte[cells][];
    values = new byte[cells][];
    ownTime = new boolean[cells];
    int cell = 0;
    for (Mutation mutation : given) {
      for (Update update : mutation.updates()) {
        Long timestamp = update.timestamp();
        keys[cell] =
            KeyCodec.encode(
                mutation.row(),
                update.family(),
                update.qualifier(),
                update.visibility(),
                timestamp == null ? 0 : timestamp,
                0,
                update.type());
        values[cell] = value(update);
        ownTime[cell] = timestamp != null;
        cell++;
      }
    }
    given = List.of();
  }

  WriteTarget target() {
    return target;
  }

  long deadlineNanos() {
    return batch.deadlineNanos();
  }

  public int cells() {
    return cells;
  }

  int mutations() {
    return mutations;
  }

  /** Bytes of keys and values. */
  int bytes() {
    return encodedBytes;
  }

  /**
   * Encoded keys; with sequence and timestamp, once placed; in the order of the updates. Empty
   * before {@link #encodeCells}.
   */
  public byte[][] keys() {
    return keys;
  }

  public byte[][] values() {
    return values;
  }

  /** What the write needs while it waits for the log and in the memtable. */
  long memoryBytes() {
    return memoryBytes;
  }

  @Override
  public int sizeHint() {
    return encodedBytes + 16 + 8 * cells;
  }

  @Override
  public Durability durability() {
    Durability asked = batch.durability();
    return asked == null ? target.durability() : asked;
  }

  @Override
  public boolean place() {
    if (clock.nanos() - batch.deadlineNanos() >= 0) {
      settlement.expired(this);
      refuse(
          new SteleException(
              ErrorCode.DEADLINE_EXCEEDED,
              "the deadline passed before the write to tablet "
                  + target.tabletId()
                  + " got its place in the log"));
      return false;
    }
    long first = target.place(cells);
    if (first == WriteTarget.REFUSED) {
      refuse(
          new SteleException(
              ErrorCode.NOT_SERVING, "tablet " + target.tabletId() + " takes no more writes"));
      return false;
    }
    firstSequence = first;
    long now = target.timestamp();
    for (int i = 0; i < cells; i++) {
      byte[] key = keys[i];
      if (!ownTime[i]) {
        KeyCodec.setTimestamp(key, 0, key.length, now);
        serverTime = now;
      }
      KeyCodec.setSequence(key, 0, key.length, first + i);
    }
    placed = true;
    return true;
  }

  @Override
  public long epoch() {
    return target.epoch();
  }

  @Override
  public String tabletId() {
    return target.tabletId();
  }

  @Override
  public long firstSequence() {
    return firstSequence;
  }

  @Override
  public long lastSequence() {
    return firstSequence + cells - 1;
  }

  @Override
  public WriterStamp writer() {
    return batch.writer();
  }

  @Override
  public long serverTime() {
    return serverTime;
  }

  @Override
  public void encode(ByteWriter out) {
    for (int i = 0; i < cells; i++) {
      LogCells.write(out, keys[i], 0, keys[i].length, values[i], 0, values[i].length);
    }
  }

  @Override
  public void committed() {
    handedOver = true;
    target.apply(this);
    settlement.applied(this);
    if (leaseHeld.getAsBoolean()) {
      batch.settled();
    } else {
      batch.failed(
          indexes,
          new SteleException(
              ErrorCode.UNKNOWN_OUTCOME,
              "the write to tablet "
                  + target.tabletId()
                  + " is in the log, but this server is no longer sure to own the tablet"));
    }
  }

  @Override
  public void failed(Exception cause) {
    settlement.unknown(this);
    if (!handedOver) {
      target.abandon(this);
      settlement.released(this);
    }
    batch.failed(indexes, outcome(ErrorCode.UNKNOWN_OUTCOME, cause));
  }

  @Override
  public void refused(Exception cause) {
    if (placed) {
      target.abandon(this);
    }
    refuse(outcome(ErrorCode.UNAVAILABLE, cause));
  }

  private SteleException outcome(ErrorCode code, Exception cause) {
    return cause instanceof SteleException typed
        ? typed
        : new SteleException(
            code, "the log failed with the write to tablet " + target.tabletId(), cause);
  }

  /** Fails the write, of which nothing was done; gives its memory back. */
  void refuse(SteleException error) {
    settlement.released(this);
    batch.failed(indexes, error);
  }

  /** Fails a write that never got memory. */
  void refuseUnadmitted(SteleException error) {
    batch.failed(indexes, error);
  }
}
