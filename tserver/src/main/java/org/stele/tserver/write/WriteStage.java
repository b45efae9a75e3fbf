package org.stele.tserver.write;

import java.io.Closeable;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.stele.core.data.CellType;
import org.stele.core.data.Mutation;
import org.stele.core.data.Update;
import org.stele.core.error.ErrorCode;
import org.stele.core.error.SteleException;
import org.stele.core.time.Clock;

/**
 * Takes the writes of clients: the first stage of the write path, which is
 *
 * <pre>
 *   validate     each mutation for itself; what is wrong with one fails that one, before anything is logged
 *   group        one {@link TabletWrite}, and so one record of the log, per tablet
 *   admit        memory from the {@link MemoryBudget}, then keys are encoded; room in the log; without these it
 *                waits in {@link Admission}
 *   log          {@link TabletWrite#place}: deadline, sequence, timestamps; then written and synced in a group
 *   apply        {@link TabletWrite#committed}: memtable, publish; then the lease is checked
 *   answer       when all tablet writes of the request are settled
 * </pre>
 *
 * Thread-safe; {@link #write} never blocks and holds no thread while a write waits.
 */
public final class WriteStage implements Closeable {
  private final WriteTargets targets;
  private final Clock clock;
  private final BooleanSupplier leaseHeld;
  private final WriteCounters counters = new WriteCounters();
  private final Settlement settlement;
  private final Admission admission;

  /**
   * @param memory the budgets of all tablets there can be
   * @param cellCost what a cell needs in a memtable
   * @param leaseHeld whether this server is sure to own its tablets; asked before a write is
   *     acknowledged
   */
  public WriteStage(
      WriteTargets targets,
      List<MemoryBudget> memory,
      CellCost cellCost,
      WriteLimits limits,
      Clock clock,
      BooleanSupplier leaseHeld) {
    this.targets = targets;
    this.clock = clock;
    this.leaseHeld = leaseHeld;
    this.admission = new Admission(limits, clock, counters);
    memory.forEach(budget -> budget.addReleaseListener(admission::roomAppeared));
    this.settlement = new Settlement(cellCost, admission, counters);
  }

  /** Begins the thread write-admit. */
  public WriteStage start() {
    admission.start();
    return this;
  }

  /** Refuses what waits with BUSY; what is in the log goes on. */
  @Override
  public void close() {
    admission.close();
  }

  public WriteCounters counters() {
    return counters;
  }

  /** Tablet writes that wait for memory or the log. */
  public int waiting() {
    return admission.waiting();
  }

  /** Takes a request; the completion is called once, maybe before this returns. */
  public void write(WriteBatch request, WriteCompletion completion) {
    counters.batches().increment();
    PendingBatch batch = new PendingBatch(request, completion);
    List<TabletWrite> writes = group(request, batch);
    batch.expect(writes.size());
    writes.forEach(admission::admit);
    batch.settled();
  }

  /** Takes a request apart; mutations that cannot be done are refused. */
  private List<TabletWrite> group(WriteBatch request, PendingBatch batch) {
    Grouping grouping = new Grouping(request, batch);
    List<Mutation> mutations = request.mutations();
    for (int i = 0; i < mutations.size(); i++) {
      grouping.add(i, mutations.get(i));
    }
    return grouping.finish();
  }

  private static @Nullable SteleException check(Mutation mutation) {
    if (mutation.updates().isEmpty()) {
      return new SteleException(
          ErrorCode.BAD_REQUEST, "the mutation of row " + mutation.row() + " has no updates");
    }
    for (Update update : mutation.updates()) {
      if (update.type() == CellType.DELETE_CELL) {
        return new SteleException(
            ErrorCode.BAD_REQUEST,
            "the mutation of row "
                + mutation.row()
                + " has an update of the reserved type DELETE_CELL");
      }
    }
    return null;
  }

  /** The mutations of one request, put together by tablet; used by one thread. */
  private final class Grouping {
    private final WriteBatch request;
    private final PendingBatch batch;
    private final List<TabletWrite> writes = new ArrayList<>(1);
    private @Nullable IdentityHashMap<WriteTarget, TabletWrite> byTarget;
    private @Nullable TabletWrite last;
    private int refused;

    Grouping(WriteBatch request, PendingBatch batch) {
      this.request = request;
      this.batch = batch;
    }

    void add(int index, Mutation mutation) {
      SteleException problem = check(mutation);
      if (problem != null) {
        refuse(index, problem);
        return;
      }
      TabletWrite write = find(mutation);
      if (write == null) {
        refuse(
            index,
            new SteleException(
                ErrorCode.NOT_SERVING,
                "no tablet of table "
                    + request.tableId()
                    + " with row "
                    + mutation.row()
                    + " takes writes here"));
        return;
      }
      write.add(index, mutation);
    }

    private void refuse(int index, SteleException problem) {
      refused++;
      counters.refused().increment();
      batch.refused(index, problem);
    }

    /** Batches are mostly sorted, so the next mutation is mostly for the tablet of the last. */
    private @Nullable TabletWrite find(Mutation mutation) {
      if (last != null && last.target().contains(mutation.row())) {
        return last;
      }
      WriteTarget target = targets.find(request.tableId(), mutation.row());
      if (target == null) {
        return null;
      }
      if (last == null) {
        last = begin(target);
        return last;
      }
      if (byTarget == null) {
        byTarget = new IdentityHashMap<>();
        byTarget.put(last.target(), last);
      }
      last = byTarget.computeIfAbsent(target, this::begin);
      return last;
    }

    private TabletWrite begin(WriteTarget target) {
      TabletWrite write = new TabletWrite(target, batch, settlement, clock, leaseHeld);
      writes.add(write);
      return write;
    }

    List<TabletWrite> finish() {
      writes.forEach(TabletWrite::complete);
      if (request.atomic() && (refused > 0 || writes.size() > 1)) {
        refuseWhole();
        return List.of();
      }
      return writes;
    }

    private void refuseWhole() {
      SteleException problem =
          new SteleException(
              ErrorCode.BAD_REQUEST,
              refused > 0
                  ? refused + " other mutations of the atomic batch were refused"
                  : "the atomic batch has rows of " + writes.size() + " tablets");
      batch.expect(writes.size());
      writes.forEach(write -> write.refuseUnadmitted(problem));
    }
  }

  /** What a cell costs in a memtable, in bytes. */
  @FunctionalInterface
  public interface CellCost {
    long bytes(int keyLength, int valueLength);
  }

  /** The counting and the giving back of memory at the end of a tablet write. Thread-safe. */
  static final class Settlement {
    private final CellCost cellCost;
    private final Admission admission;
    private final WriteCounters counters;

    Settlement(CellCost cellCost, Admission admission, WriteCounters counters) {
      this.cellCost = cellCost;
      this.admission = admission;
      this.counters = counters;
    }

    long memoryBytes(int keyLength, int valueLength) {
      return cellCost.bytes(keyLength, valueLength);
    }

    void applied(TabletWrite write) {
      counters.mutations().add(write.mutations());
      counters.cells().add(write.cells());
      counters.bytes().add(write.bytes());
      admission.roomAppeared();
    }

    void expired(TabletWrite write) {
      counters.expired().add(write.mutations());
    }

    void unknown(TabletWrite write) {
      counters.unknown().add(write.mutations());
    }

    void released(TabletWrite write) {
      write.target().memory().release(write.memoryBytes());
      admission.roomAppeared();
    }
  }
}
